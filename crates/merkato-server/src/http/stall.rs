//! A socket that gives up on a client that takes in nothing, or says nothing: without it, whoever asks and never reads keeps a connection and
//! the memory of its answer for good.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

pub struct Stalling<S> {
    socket: S,
    write_within: Duration,
    read_within: Option<Duration>,
    /// Since when nothing could be written.
    unread: Timer,
    /// Since when nothing has come.
    unsaid: Timer,
}

type Timer = Option<Pin<Box<Sleep>>>;

impl<S> Stalling<S> {
    /// Gives up when the client takes in nothing for so long.
    pub fn new(socket: S, write_within: Duration) -> Self {
        Stalling { socket, write_within, read_within: None, unread: None, unsaid: None }
    }

    /// Gives up when nothing comes for so long, too: for clients that are asked now and then whether they are there.
    pub fn or_silent(self, read_within: Duration) -> Self {
        Stalling { read_within: Some(read_within), ..self }
    }
}

/// The outcome of a read or a write, or that it took too long.
fn wait<T>(
    timer: &mut Timer,
    within: Duration,
    cx: &mut Context<'_>,
    done: Poll<io::Result<T>>,
) -> Poll<io::Result<T>> {
    if done.is_ready() {
        *timer = None;
        return done;
    }
    let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + within)));
    match timer.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        Poll::Pending => Poll::Pending,
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let read = Pin::new(&mut this.socket).poll_read(cx, buffer);
        match this.read_within {
            Some(within) => wait(&mut this.unsaid, within, cx, read),
            None => read,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        let this = &mut *self;
        wait(&mut this.unread, this.write_within, cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        let this = &mut *self;
        wait(&mut this.unread, this.write_within, cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        let this = &mut *self;
        wait(&mut this.unread, this.write_within, cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.socket).poll_shutdown(cx);
        let this = &mut *self;
        wait(&mut this.unread, this.write_within, cx, shut)
    }
}
