//! Every picture is what it should be: well-formed, small, its own, and nothing that a browser would run or fetch.

use std::collections::HashSet;

use super::*;

const SEEDS: u64 = 8;

fn each(mut see: impl FnMut(Picture)) {
    for (n, motif) in Motif::ALL.iter().copied().enumerate() {
        for seed in 0..SEEDS {
            let palette = (n + usize::try_from(seed).expect("small")) % PALETTES;
            let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            Picture::views(motif, palette, seed).into_iter().for_each(&mut see);
            see(Picture::Group { motif, palette, seed });
        }
    }
    (0..PALETTES).zip(0..).for_each(|(palette, seed)| see(Picture::Hero { palette, seed }));
}

/// Elements are closed in their order, attributes are quoted, and no character stands where it may not.
fn check_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains(['>', '&', '"']), "text: {}", &rest[..at]);
        let end = rest.find('>').expect("an end of the tag");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
            continue;
        }
        let (body, empty) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let (name, mut attributes) = body.split_once(' ').unwrap_or((body, ""));
        assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic()), "{tag}");
        let mut seen = HashSet::new();
        while !attributes.is_empty() {
            let (key, after) = attributes.split_once("=\"").expect("a value");
            assert!(key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') && seen.insert(key), "{tag}");
            let (value, after) = after.split_once('"').expect("an end of the value");
            assert!(!value.contains(['<', '&']), "{tag}");
            attributes = after.trim_start();
        }
        if !empty {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.is_empty(), "left open: {open:?} {rest}");
}

#[test]
fn every_picture_is_well_formed_and_harmless() {
    each(|picture| {
        let svg = picture.svg();
        check_well_formed(&svg);
        assert!(svg.starts_with(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 "#));
        assert!(svg.contains(r#"role="img""#) && svg.contains("<title>"));
        let rest = svg.replacen("http://www.w3.org/2000/svg", "", 1);
        for word in ["script", "href", "http", "style", "data:", "//", " on", "<image", "<use", "<foreign"] {
            assert!(!rest.contains(word), "{word}: {svg}");
        }
    });
}

#[test]
fn no_picture_is_large() {
    let mut largest = 0;
    each(|picture| {
        let most = if matches!(picture, Picture::Thing { .. }) { BYTES_MAX } else { 4 * BYTES_MAX };
        let bytes = picture.svg().len();
        assert!(bytes <= most, "{picture:?} has {bytes} bytes");
        largest = largest.max(bytes);
    });
    assert!(largest > 1_000);
}

#[test]
fn the_same_name_is_the_same_picture_and_another_is_another() {
    let mut seen = HashSet::new();
    for motif in Motif::ALL.iter().copied() {
        for seed in 0..SEEDS {
            for picture in Picture::views(motif, 4, seed) {
                let name = picture.path();
                let drawn = svg(name.strip_prefix(FOLDER).expect("a path")).expect("a picture");
                assert_eq!(drawn, picture.svg());
                assert!(seen.insert(drawn), "{name} is drawn as another is");
            }
        }
    }
    assert_eq!(svg("nothing-0-0-0.svg"), None);
}

#[test]
fn there_are_many_kinds() {
    assert!(Motif::ALL.len() >= 60, "{}", Motif::ALL.len());
}
