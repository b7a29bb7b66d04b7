//! What can be done with the graph: each verb loads, decides, commits and answers.

mod analyze;
mod connect;
mod count;
mod lists;
mod path;
mod people;
mod suggest;
mod verify;

pub use analyze::{Analysis, Betweenness, Stage, WatchAnalysis, analyze, find_metrics, list_communities, unwatched};
pub use connect::{Edge, Made, connect, connect_many, disconnect, find_connection, interact};
pub(crate) use count::Counter;
pub use count::settle_counts;
pub use lists::{Mutual, list_connections, list_followers, list_mutual};
pub use path::{Found, find_path};
pub use people::{describe_person, forget_person, get_degree, get_person};
pub use suggest::{list_suggestions, suggest};
pub use verify::{GraphReport, WrongPerson, verify_graph};
