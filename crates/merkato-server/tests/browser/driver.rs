//! The processes of the browsers: chromedriver, and each Chromium that it starts.
//!
//! All of them are one process group, whose leader is a shell that waits for the end of its input. The input is a pipe from here.
//! However this process ends, the pipe closes, and the shell ends the group: no browser is left behind, even by a SIGKILL.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const KEEPER: &str = r#""$@" & cat >/dev/null; kill -9 0"#;
const START_TIME_MAX: Duration = Duration::from_secs(30);

/// The programs, where they are.
#[derive(Clone, Debug)]
pub struct Programs {
    chromium: PathBuf,
    driver: PathBuf,
}

impl Programs {
    /// Looks into `PATH`; the reason if there is none.
    pub fn find() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let find = |names: &[&str]| {
            let found = std::env::split_paths(&path).flat_map(|folder| names.iter().map(move |name| folder.join(name)));
            let missing = || format!("{} is not installed", names[0]);
            found.into_iter().find(|file| file.is_file()).ok_or_else(missing)
        };
        Ok(Programs {
            chromium: find(&["chromium", "chromium-browser", "google-chrome"])?,
            driver: find(&["chromedriver"])?,
        })
    }

    pub fn chromium(&self) -> &Path {
        &self.chromium
    }
}

/// A chromedriver that runs. Dropped, it and its browsers are gone.
pub struct Driver {
    keeper: Child,
    pub url: String,
}

impl Driver {
    /// On a free port, with everything that it and its browsers write inside `home`.
    pub fn start(programs: &Programs, home: &Path) -> Self {
        let log = home.join("chromedriver.log");
        let file = File::create(&log).expect("a log");
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER, "sh"]).arg(&programs.driver).arg("--port=0");
        for folder in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"] {
            command.env(folder, home);
        }
        command.stdin(Stdio::piped()).stdout(file.try_clone().expect("a log")).stderr(file);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let keeper = command.spawn().expect("a shell");
        // From here on its drop ends the group, also if the port is never told.
        let mut driver = Driver { keeper, url: String::new() };
        let port = wait_for_port(&log);
        driver.url = format!("http://127.0.0.1:{port}");
        driver
    }
}

fn wait_for_port(log: &Path) -> u16 {
    let until = Instant::now() + START_TIME_MAX;
    loop {
        let told = std::fs::read_to_string(log).unwrap_or_default();
        let port = told.split_once("started successfully on port ").map(|(_, rest)| rest);
        let port = port.and_then(|rest| rest.split_once('.')).and_then(|(port, _)| port.parse().ok());
        if let Some(port) = port {
            return port;
        }
        assert!(Instant::now() < until, "chromedriver did not start: {told}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
