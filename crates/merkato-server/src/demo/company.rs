//! Who works in the demo's company: departments, their teams, and people in these. None of them exists.

use std::collections::BTreeMap;

use merkato::{hierarchy::NewNode, id::NodeId};
use uuid::Uuid;

/// The tree that they stand in.
pub const COMPANY: &str = "company";

/// A department: its name, who leads it, and its teams.
struct Department {
    name: &'static str,
    lead: (&'static str, &'static str),
    teams: &'static [Team],
}

/// A team: its name, what its people are, and who they are; the first of them leads it.
struct Team {
    name: &'static str,
    title: &'static str,
    people: &'static [&'static str],
}

const fn team(name: &'static str, title: &'static str, people: &'static [&'static str]) -> Team {
    Team { name, title, people }
}

const DEPARTMENTS: &[Department] = &[
    Department {
        name: "Buying",
        lead: ("Marlene Adler", "Head of buying"),
        teams: &[
            team("Kitchen & pantry", "Buyer", &["Jasper Quint", "Noor Rahimi", "Silke Brenner"]),
            team("Home & garden", "Buyer", &["Tobias Finke", "Aylin Kaya", "Per Lindqvist"]),
            team("Makers", "Scout", &["Ruth Abel", "Giulio Conti"]),
        ],
    },
    Department {
        name: "Customer care",
        lead: ("Imke Paulsen", "Head of customer care"),
        teams: &[
            team("Letters & chat", "Adviser", &["Sven Carstens", "Lucia Marek", "Amir Tehrani", "Birte Holm"]),
            team("Telephone", "Adviser", &["Hilde Sommer", "Kofi Mensah", "Jana Wirth"]),
            team("Returns", "Clerk", &["Otto Reimann", "Selin Aksoy"]),
        ],
    },
    Department {
        name: "Engineering",
        lead: ("Ewa Zielinska", "Head of engineering"),
        teams: &[
            team("Shop front", "Developer", &["Malte Ohlsen", "Priya Nair", "Theo Lambert", "Anouk Visser"]),
            team("Data & operations", "Engineer", &["Gero Thiele", "Hanna Virtanen", "Marek Dvorak"]),
            team("Design", "Designer", &["Carlotta Bruni", "Ansgar Rehm"]),
        ],
    },
    Department {
        name: "Finance",
        lead: ("Roland Esch", "Head of finance"),
        teams: &[
            team("Accounts", "Accountant", &["Britta Kuhl", "Daniel Osei", "Marta Wilk"]),
            team("Planning", "Analyst", &["Ines Moraes", "Frank Tiedemann"]),
        ],
    },
    Department {
        name: "Logistics",
        lead: ("Bjarne Matthes", "Head of logistics"),
        teams: &[
            team("Warehouse Berlin", "Packer", &["Dilara Yildiz", "Rico Zander", "Nele Ahrens", "Milan Petrovic"]),
            team("Warehouse Hamburg", "Packer", &["Hauke Janssen", "Fatou Diallo", "Jan Sobczak"]),
            team("Cold store", "Keeper", &["Agnes Wendt", "Luis Romero"]),
            team("Carriers", "Planner", &["Svenja Kroll", "Emre Polat"]),
        ],
    },
    Department {
        name: "Marketing",
        lead: ("Josefine Hartwig", "Head of marketing"),
        teams: &[
            team("Words & pictures", "Editor", &["Linus Faber", "Mira Stojan", "Clara Weidner"]),
            team("Shops in town", "Host", &["Arne Böttcher", "Zita Molnar"]),
        ],
    },
    Department {
        name: "People",
        lead: ("Corinna Lutz", "Head of people"),
        teams: &[team("Hiring", "Recruiter", &["Yannick Bauer", "Nadia Cherif"])],
    },
];

/// Everybody, parents before those below them. An id follows from the path, so that it is the same at every start.
pub fn nodes() -> Vec<NewNode> {
    let mut all = Vec::new();
    let mut add = |above: &[&str], name: &str, node_type: &str, title: &str| {
        let title = Some(title).filter(|title| !title.is_empty()).map(|title| ("Title".to_owned(), title.to_owned()));
        all.push(NewNode {
            parent_id: (!above.is_empty()).then(|| id(above)),
            node_id: Some(id(&[above, &[name]].concat())),
            name: name.to_owned(),
            node_type: Some(node_type.to_owned()),
            metadata: BTreeMap::from_iter(title),
        });
    };
    for department in DEPARTMENTS {
        add(&[], department.name, "department", "");
        add(&[department.name], department.lead.0, "person", department.lead.1);
        for team in department.teams {
            add(&[department.name], team.name, "team", "");
            for (n, person) in team.people.iter().enumerate() {
                let title = if n == 0 { format!("{}, leads the team", team.title) } else { team.title.to_owned() };
                add(&[department.name, team.name], person, "person", &title);
            }
        }
    }
    all
}

fn id(path: &[&str]) -> NodeId {
    const PLACES: Uuid = Uuid::from_u128(0x6d65_726b_6174_4f64_8000_0000_0000_0001);
    NodeId(Uuid::new_v5(&PLACES, path.join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn everybody_stands_below_somebody_who_comes_first() {
        let all = nodes();
        let mut known = BTreeSet::new();
        for node in &all {
            assert!(node.parent_id.is_none_or(|parent| known.contains(&parent)), "{}", node.name);
            assert!(known.insert(node.node_id.expect("an id")), "{} twice", node.name);
        }
        let of = |kind: &str| all.iter().filter(|node| node.node_type.as_deref() == Some(kind)).count();
        assert_eq!((of("department"), of("team"), of("person")), (7, 18, 56));
        assert_eq!(all, nodes());
    }
}
