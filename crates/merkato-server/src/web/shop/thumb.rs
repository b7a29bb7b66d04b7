//! The small picture beside a line.

use crate::web::next;

/// A picture that the page may load: one of this site. Of any other a drawn one is shown in its place.
pub fn own(url: Option<&str>) -> Option<String> {
    url.and_then(next::own_path).map(str::to_owned)
}
