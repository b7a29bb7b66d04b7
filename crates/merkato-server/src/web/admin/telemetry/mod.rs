//! Sensors: how they are, and what they measured.

pub mod list;
pub mod sensor;
mod span;
mod state;
mod time;

use merkato::telemetry::{COLUMNS, Sensor};

/// A number as people read it: three digits and all before the point, no more noughts than it needs.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{:.decimals$}", value.abs());
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (whole, rest) = text.split_once('.').map_or((text, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let text = crate::web::words::thousands(whole) + &rest;
    if value < 0.0 && text != "0" { format!("−{text}") } else { text }
}

/// A number with its unit.
fn quantity(value: f64, unit: &str) -> String {
    match unit {
        "" => number(value),
        "%" => format!("{} %", number(value)),
        unit => format!("{} {unit}", number(value)),
    }
}

/// `98 %`.
fn percent(share: Option<f64>) -> String {
    match share {
        // Less than all is never told as all.
        Some(share) if share < 1.0 => format!("{} %", ((share * 100.0).round()).min(99.0)),
        Some(_) => "100 %".to_owned(),
        None => "–".to_owned(),
    }
}

/// Of a metric, as the sensor was registered, or as it is usual.
fn unit<'s>(sensor: &'s Sensor, metric: &str) -> &'s str {
    let known = sensor.metrics.get(metric).and_then(|metric| metric.unit.as_deref());
    known.unwrap_or(match metric {
        "temperature" => "°C",
        "humidity" => "%",
        "pressure" => "hPa",
        _ => "",
    })
}

/// `Door openings`.
fn title(metric: &str) -> String {
    let words = metric.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

/// What a sensor measures, that which it was registered with first.
fn metrics(sensor: &Sensor) -> Vec<String> {
    let named = COLUMNS.iter().filter(|name| sensor.metrics.contains_key(**name)).map(|name| (*name).to_owned());
    let others = sensor.metrics.keys().filter(|name| !COLUMNS.contains(&name.as_str())).cloned();
    let mut all: Vec<String> = named.chain(others).collect();
    all.extend(COLUMNS.iter().filter(|name| !sensor.metrics.contains_key(**name)).map(|name| (*name).to_owned()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let told: Vec<String> = [3.941_7, -18.24, 0.0, 1_013.2, 12_345.0, 0.001_234_5, -1e-9].map(number).into();
        assert_eq!(told, ["3.94", "−18.2", "0", "1,013", "12,345", "0.00123", "0"]);
        assert_eq!([percent(Some(1.0)), percent(Some(0.999)), percent(None)], ["100 %", "99 %", "–"]);
        assert_eq!(title("door_openings"), "Door openings");
    }
}
