//! Texts as a shop shows them: no markup, no control characters, no stray spaces.

/// One line: a name, a brand, an attribute's name.
pub(super) fn line(text: &str) -> String {
    let plain = plain(text);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Several lines: a description. Paragraphs stay lines; between them there is one empty line at most.
pub(super) fn lines(text: &str) -> String {
    let plain = plain(text);
    let mut out = String::with_capacity(plain.len());
    for line in plain.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() && (out.is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        out.push_str(&line);
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Without tags, entities and control characters; what would be read as a tag is none any more.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
    let text = if Tags::new(&text).next().is_some() { without_tags(&text) } else { text };
    let decoded = decode_entities(&text);
    let mut out = String::with_capacity(decoded.len());
    for c in decoded.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            // Windows-1252 that was taken for Latin-1 somewhere on the way: a trade mark, not a control character.
            '\u{80}'..='\u{9f}' => out.extend(windows_1252(c)),
            '\u{feff}' => {}
            c if c.is_control() => {}
            c => {
                if out.ends_with('<') && opens_tag(c) {
                    out.push(' ');
                }
                out.push(c);
            }
        }
    }
    out
}

fn opens_tag(after: char) -> bool {
    after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?')
}

/// Finds the tags of a text, each once, however many begin and never end.
struct Tags<'a> {
    html: &'a str,
    from: usize,
    no_more_ends: bool,
    no_more_comment_ends: bool,
}

impl<'a> Tags<'a> {
    fn new(html: &'a str) -> Self {
        Tags { html, from: 0, no_more_ends: false, no_more_comment_ends: false }
    }

    /// Where the next tag begins, and where the text goes on behind it.
    fn next(&mut self) -> Option<(usize, usize)> {
        while !self.no_more_ends {
            let start = self.from + self.html[self.from..].find('<')?;
            self.from = start + 1;
            let inner = &self.html[self.from..];
            if !inner.chars().next().is_some_and(opens_tag) {
                continue;
            }
            let mut end = None;
            if let Some(comment) = inner.strip_prefix("!--").filter(|_| !self.no_more_comment_ends) {
                end = comment.find("-->").map(|i| self.from + 3 + i + 3);
                self.no_more_comment_ends = end.is_none();
            }
            let end = end.or_else(|| inner.find('>').map(|i| self.from + i + 1));
            self.no_more_ends = end.is_none();
            if let Some(end) = end {
                self.from = end;
                return Some((start, end));
            }
        }
        None
    }
}

const BLOCKS: [&str; 20] = [
    "address",
    "article",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "ol",
    "p",
    "section",
    "tr",
    "ul",
];

/// Tags dropped: blocks begin lines, items of lists begin with a dash; spaces between the words are all alike.
fn without_tags(html: &str) -> String {
    let folded = html.to_ascii_lowercase();
    let mut out = String::with_capacity(html.len());
    let mut tags = Tags::new(html);
    let mut from = 0;
    while let Some((start, end)) = tags.next() {
        push_words(&mut out, &html[from..start]);
        from = end;
        let inner = &folded[start + 1..end];
        let closing = inner.starts_with('/');
        let name = inner.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
        match name {
            // What a page runs or is drawn with is no text, up to where it ends.
            "script" | "style" if !closing => {
                from = folded[end..].find(&format!("</{name}")).map_or(html.len(), |i| end + i);
                tags.from = from;
            }
            "li" if !closing => out.push_str("\n- "),
            "td" | "th" if closing => out.push(' '),
            name if BLOCKS.contains(&name) => out.push('\n'),
            _ => {}
        }
    }
    push_words(&mut out, &html[from..]);
    // Between blocks there is nothing but the line that each of them ends and begins.
    let lines = out.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Line breaks in the source of a page are mere spaces.
fn push_words(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c }));
}

fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        // The longest name that is known is `thetasym`.
        let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(i, _)| i);
        match end.and_then(|end| Some((entity(&rest[1..end])?, end + 1))) {
            Some((c, length)) => {
                out.push(c);
                rest = &rest[length..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    // Those of Latin-1 are in the order of their characters, from the no-break space on.
    if let Some(i) = LATIN_1.iter().position(|known| *known == name) {
        return char::from_u32(0xa0 + i as u32);
    }
    OTHERS.iter().find(|(known, _)| *known == name).map(|(_, c)| *c)
}

const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

const OTHERS: [(&str, char); 36] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("bull", '•'),
    ("trade", '™'),
    ("euro", '€'),
    ("prime", '′'),
    ("Prime", '″'),
    ("minus", '−'),
    ("infin", '∞'),
    ("asymp", '≈'),
    ("ne", '≠'),
    ("le", '≤'),
    ("ge", '≥'),
    ("larr", '←'),
    ("rarr", '→'),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
];

/// What the byte of a control character is in Windows-1252.
fn windows_1252(c: char) -> Option<char> {
    const TABLE: [char; 32] = [
        '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”',
        '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
    ];
    TABLE.get((c as usize).checked_sub(0x80)?).copied().filter(|c| *c != '\0')
}
