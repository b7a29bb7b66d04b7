//! The bytes of a source: unpacked, without a byte order mark, and what they are written in.

use std::{
    cell::Cell,
    io::{BufRead, BufReader, Read, Seek, SeekFrom},
    ops::ControlFlow,
    rc::Rc,
};

use flate2::read::MultiGzDecoder;

use super::{
    csv::{self, Dialect},
    error::{Error, Result},
    json,
    record::Item,
};
use crate::limits;

/// What a source is written in. Whether it is gzipped is seen by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Whatever it looks like.
    #[default]
    Auto,
    /// With commas, semicolons, tabs or bars, whichever the heading has most of.
    Csv,
    Tsv,
    /// An array of objects, or an object that has one.
    Json,
    /// An object a line.
    NdJson,
}

/// Bytes that are looked at to tell what a source is.
const HEAD_BYTES: usize = 64 * 1024;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const UTF8_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// What is told of each record, and whether to go on.
pub(super) type Each<'a> = dyn FnMut(Item) -> ControlFlow<()> + 'a;

/// What is told of each line, None where it is not UTF-8, and whether to go on.
pub(super) type EachLine<'a> = dyn FnMut(u64, Option<&str>) -> ControlFlow<()> + 'a;

/// The bytes of a source, unpacked.
type Unpacked<'a> = BufReader<Rationed<Box<dyn Read + 'a>>>;

/// Reads the source from its beginning to its end, or until it is told to stop.
pub(super) fn read(input: &mut (impl Read + Seek), format: Format, each: &mut Each<'_>) -> Result<()> {
    let (text, ration) = open(input)?;
    let head = text.buffer().to_vec();
    // Every record that was read whole allows for another.
    let mut each = |item: Item| {
        ration.renew();
        each(item)
    };
    match if format == Format::Auto { detect(&head) } else { format } {
        Format::NdJson => json::read_lines(text, &mut each),
        Format::Json => json::read_document(text, &mut each),
        Format::Tsv => csv::read(text, Dialect { delimiter: b'\t', ..Dialect::of(&head) }, &mut each),
        Format::Csv | Format::Auto => csv::read(text, Dialect::of(&head), &mut each),
    }
}

/// The beginning of the source, as far as one read goes.
pub(super) fn beginning(input: &mut (impl Read + Seek)) -> Result<Vec<u8>> {
    Ok(open(input)?.0.buffer().to_vec())
}

/// The lines of the source, counted from 1, until it is told to stop.
pub(super) fn lines(input: &mut (impl Read + Seek), each: &mut EachLine<'_>) -> Result<()> {
    let (mut text, ration) = open(input)?;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        ration.renew();
        if text.read_until(b'\n', &mut line).map_err(Error::unreadable)? == 0 {
            break;
        }
        if each(number, std::str::from_utf8(&line).ok().map(str::trim)).is_break() {
            break;
        }
    }
    Ok(())
}

/// From the beginning, unpacked, without a byte order mark.
fn open(input: &mut (impl Read + Seek)) -> Result<(Unpacked<'_>, Ration)> {
    input.seek(SeekFrom::Start(0)).map_err(Error::unreadable)?;
    let mut packed = BufReader::new(input);
    let gzipped = head(&mut packed)?.starts_with(&GZIP_MAGIC);
    let bytes: Box<dyn Read + '_> = if gzipped { Box::new(MultiGzDecoder::new(packed)) } else { Box::new(packed) };
    let ration = Ration::default();
    let rationed = Rationed { bytes, ration: ration.clone() };
    let mut text = BufReader::with_capacity(HEAD_BYTES, rationed);
    let head = head(&mut text)?;
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(Error::unreadable("it is UTF-16; save it as UTF-8"));
    }
    if head.starts_with(&UTF8_MARK) {
        text.consume(UTF8_MARK.len());
    }
    Ok((text, ration))
}

/// Fills the buffer as far as one read goes, and shows it.
fn head(reader: &mut impl BufRead) -> Result<&[u8]> {
    reader.fill_buf().map_err(Error::unreadable)
}

fn detect(head: &[u8]) -> Format {
    let start = head.trim_ascii_start();
    match start.first() {
        Some(b'[') => Format::Json,
        Some(b'{') => {
            // One object in its line, and then another one, is one a line.
            let line = start.split(|b| *b == b'\n').next().unwrap_or_default();
            let whole = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok();
            let rest = start[line.len()..].trim_ascii_start();
            if whole && rest.first() == Some(&b'{') { Format::NdJson } else { Format::Json }
        }
        _ => Format::Csv,
    }
}

/// How much may be read before a record is whole: a quote that nobody closes must not fill the memory.
#[derive(Clone, Default)]
struct Ration(Rc<Cell<usize>>);

impl Ration {
    fn renew(&self) {
        self.0.set(0);
    }
}

struct Rationed<R> {
    bytes: R,
    ration: Ration,
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.ration.0.get() > limits::IMPORT_RECORD_BYTES_MAX {
            let reason = format!("a record has more than {} bytes", limits::IMPORT_RECORD_BYTES_MAX);
            return Err(std::io::Error::other(reason));
        }
        let count = self.bytes.read(buffer)?;
        self.ration.0.set(self.ration.0.get() + count);
        Ok(count)
    }
}
