//! Whoever puts a tree in order: by dragging, by the keyboard, by pressing, and without a script.

use fantoccini::{
    actions::{InputSource as _, MOUSE_BUTTON_LEFT, MouseActions, PointerAction},
    key::Key,
};
use merkato::hierarchy;
use merkato_server::demo;
use serde_json::{Value, json};

use crate::{browser::Browser, shopping::log_in, world::World};

crate::run::cases![
    a_team_is_dragged_to_another_department,
    a_person_is_moved_by_the_keyboard,
    a_node_is_chosen_and_put_elsewhere_by_pressing,
    a_tree_is_put_in_order_without_a_script,
];

async fn path_of(world: &World, path: &str) -> Option<String> {
    let tree = hierarchy::tree_id(demo::COMPANY);
    hierarchy::find_by_path(&world.ctx, tree, path).await.expect("an answer").map(|entry| entry.full_path)
}

async fn company(visitor: &Browser) {
    log_in(visitor, demo::CLERK).await;
    visitor.visit("/admin/trees").await;
    visitor.click(demo::COMPANY).await;
    visitor.see("Below company").await;
}

/// As a mouse does it: down on the one, over to the other in some steps, up.
async fn drag(visitor: &Browser, from: &str, to: &str) {
    let place = "const line = [...document.querySelectorAll('[data-node], .crumbs [data-place]')].find(
            (line) => (line.dataset.name ?? line.textContent) === arguments[0]);
        const box = line.getBoundingClientRect();
        return [Math.round(box.left + Math.min(box.width * 0.5, 250)), Math.round(box.top + box.height / 2)]";
    visitor.run::<Value>("scrollTo(0, 0)", Vec::new()).await;
    let (x, y): (i64, i64) = visitor.run(place, vec![json!(from)]).await;
    let (end_x, end_y): (i64, i64) = visitor.run(place, vec![json!(to)]).await;
    let at = |x: i64, y: i64| PointerAction::MoveTo { duration: None, x: x as f64, y: y as f64 };
    let mouse = MouseActions::new("mouse".into())
        .then(at(x, y))
        .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
        .then(at(x + 6, y + 4))
        .then(at((x + end_x) / 2, (y + end_y) / 2))
        .then(at(end_x, end_y))
        .then(at(end_x + 2, end_y))
        .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
    visitor.client.perform_actions(mouse).await.expect("dragged");
}

async fn a_team_is_dragged_to_another_department(world: &World) {
    let clerk = world.browser().await;
    company(&clerk).await;
    assert!(path_of(world, "root/Engineering/Design/Carlotta Bruni").await.is_some());
    drag(&clerk, "Design", "Finance").await;
    clerk.see("It is moved, with all that stands below it.").await;
    assert!(path_of(world, "root/Finance/Design/Carlotta Bruni").await.is_some());
    assert!(path_of(world, "root/Engineering/Design").await.is_none());
    // Onto itself, or onto what stands below it, it does not go.
    drag(&clerk, "Finance", "Accounts").await;
    clerk.see("Below company").await;
    assert!(path_of(world, "root/Finance/Accounts").await.is_some());
    // The way above a page is a place to drop on, too.
    clerk.click("Finance").await;
    clerk.see("Below Finance").await;
    drag(&clerk, "Design", demo::COMPANY).await;
    clerk.see("It is moved, with all that stands below it.").await;
    assert!(path_of(world, "root/Design/Carlotta Bruni").await.is_some());
}

async fn a_person_is_moved_by_the_keyboard(world: &World) {
    let clerk = world.browser().await;
    company(&clerk).await;
    clerk.tab_to("Buying").await;
    // To the lead of the first department, and up with it.
    clerk.press(Key::Down).await;
    clerk.press(Key::Down).await;
    assert_eq!(clerk.focus().await.name, "Kitchen & pantry");
    // Opened and gone on from there.
    clerk.press(Key::Right).await;
    clerk.see("Jasper Quint").await;
    clerk.press(Key::Down).await;
    assert_eq!(clerk.focus().await.name, "Jasper Quint");
    clerk.write("m").await;
    clerk.see("Moving Jasper Quint.").await;
    clerk.press(Key::Escape).await;
    clerk.see_no_more("Moving Jasper Quint.").await;
    assert_eq!(clerk.focus().await.name, "Jasper Quint");
    clerk.write("m").await;
    clerk.press(Key::Home).await;
    assert_eq!(clerk.focus().await.name, "Buying");
    clerk.press(Key::Enter).await;
    clerk.see("It is moved, with all that stands below it.").await;
    assert!(path_of(world, "root/Buying/Jasper Quint").await.is_some());
    // Below itself nothing goes, and one is told so.
    clerk.tab_to("Buying").await;
    clerk.write("m").await;
    clerk.press(Key::Down).await;
    clerk.press(Key::Enter).await;
    clerk.see("Buying cannot stand below Home & garden.").await;
}

async fn a_node_is_chosen_and_put_elsewhere_by_pressing(world: &World) {
    let clerk = world.browser().await;
    company(&clerk).await;
    clerk.click("Move Planning").await;
    clerk.see("Moving Planning.").await;
    clerk.click("Leave it where it is").await;
    clerk.see_no_more("Moving Planning.").await;
    clerk.click("Move Planning").await;
    clerk.click("People").await;
    clerk.see("It is moved, with all that stands below it.").await;
    assert!(path_of(world, "root/People/Planning").await.is_some());
}

async fn a_tree_is_put_in_order_without_a_script(world: &World) {
    let clerk = world.browser_without_javascript().await;
    company(&clerk).await;
    clerk.click("Close Engineering").await;
    clerk.see_no_more("Shop front").await;
    clerk.click("Open Engineering").await;
    clerk.click("Shop front").await;
    clerk.see("root/Engineering/Shop front").await;
    clerk.within("Add below Shop front").fill("Name", "A/B tests").await;
    clerk.within("Add below Shop front").click("Add node").await;
    clerk.see("The node is added.").await;
    clerk.click("A/B tests").await;
    clerk.click("▸ Move").await;
    clerk.fill("Path of the node that it is to stand below", "root/Marketing").await;
    clerk.click("Move it there").await;
    clerk.see("root/Marketing/A~1B tests").await;
    clerk.click("▸ Rename").await;
    clerk.within("Rename node").fill("Name", "Trials").await;
    clerk.click("Rename node").await;
    clerk.see("root/Marketing/Trials").await;
    clerk.click("▸ Delete").await;
    clerk.click("Delete node").await;
    clerk.see("It is deleted.").await;
    assert_eq!(path_of(world, "root/Marketing/Trials").await, None);
    clerk.fill("A part of a name in company", "nadi").await;
    clerk.click("Search").await;
    clerk.see("Nadia Cherif").await;
}
