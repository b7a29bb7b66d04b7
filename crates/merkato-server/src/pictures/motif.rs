//! The kinds of things that can be drawn, in one table: the name in a picture's address, what a screen reader says, who draws
//! it, how it is shown in a room, where a close look is taken, and the words by which a product is known to be one.

use super::{
    pen::Pen,
    things::{desk, furniture, garden, kitchen, light, pantry, play, textiles, travel, wear},
};

/// How a thing is in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On a table or a shelf.
    Stands,
    /// On the floor: it is large.
    Floor,
    /// On the wall, or from the ceiling.
    Hangs,
    /// Seen from above.
    Lies,
}

pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) draw: fn(&mut Pen),
    pub(crate) place: Place,
    /// Where the close look is taken.
    pub(crate) focus: (i32, i32),
    words: &'static str,
}

macro_rules! kinds {
    ($($motif:ident $name:literal $title:literal $draw:path, $place:ident $focus:tt $words:literal;)*) => {
        /// What a picture shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Motif { $($motif,)* }

        impl Motif {
            pub const ALL: &'static [Motif] = &[$(Motif::$motif,)*];

            pub(crate) fn kind(self) -> &'static Kind {
                match self {
                    $(Motif::$motif => &Kind {
                        name: $name, title: $title, draw: $draw, place: Place::$place, focus: $focus,
                        words: $words,
                    },)*
                }
            }
        }
    };
}

kinds! {
    Pendant "pendant" "A pendant lamp" light::pendant, Hangs (200, 200) "pendant, pendant lamp, ceiling lamp, ceiling light, lampshade, lighting, chandelier";
    TableLamp "table-lamp" "A table lamp" light::table_lamp, Stands (200, 150) "table lamp, bedside lamp, lamp, light";
    DeskLamp "desk-lamp" "A desk lamp" light::desk_lamp, Stands (230, 160) "desk lamp, reading lamp, task lamp, clamp lamp, work lamp";
    FloorLamp "floor-lamp" "A floor lamp" light::floor_lamp, Floor (220, 140) "floor lamp, standing lamp, arc lamp";
    Candle "candle" "A candle" light::candle, Stands (200, 200) "candle, candlestick, candle holder, tealight, scented candle, candles and scents";
    Bulb "bulb" "A light bulb" light::bulb, Stands (200, 200) "bulb, light bulb, led";
    Chair "chair" "A chair" furniture::chair, Floor (200, 170) "chair, dining chair, seating, chairs and stools";
    Sofa "sofa" "A sofa" furniture::sofa, Floor (200, 210) "sofa, couch, settee, sofas and armchairs, home, living room, living";
    Armchair "armchair" "An armchair" furniture::armchair, Floor (200, 210) "armchair, easy chair, lounge chair, recliner";
    Stool "stool" "A stool" furniture::stool, Floor (200, 210) "stool, bench, footstool, ottoman";
    Table "table" "A table" furniture::table, Floor (220, 190) "table, desk, side table, coffee table, bedside table, furniture, tables, dining table, nightstand";
    Shelf "shelf" "A shelf" furniture::shelf, Hangs (200, 190) "shelf, shelving, wall shelf, bookcase, rack, storage, cabinet, bookend, coat rack, hook";
    Clock "clock" "A clock" furniture::clock, Hangs (200, 200) "clock, wall clock, alarm clock, watch, timer, clocks and mirrors";
    Mirror "mirror" "A mirror" furniture::mirror, Hangs (200, 180) "mirror";
    Basket "basket" "A basket" furniture::basket, Stands (200, 240) "basket, hamper, crate, baskets and boxes, bin";
    Rug "rug" "A rug" textiles::rug, Lies (200, 170) "rug, carpet, mat, doormat, runner";
    Cushion "cushion" "A cushion" textiles::cushion, Stands (200, 200) "cushion, pillow, pouf, cushion cover, bolster";
    Blanket "blanket" "A folded blanket" textiles::blanket, Stands (180, 220) "blanket, throw, bedding, duvet, quilt, sheet, textile, bedspread, plaid, duvet cover";
    Towel "towel" "A towel" textiles::towel, Hangs (200, 240) "towel, bath towel, tea towel, bathrobe, bath, apron, napkin, tablecloth";
    Kettle "kettle" "A kettle" kitchen::kettle, Stands (190, 220) "kettle";
    Teapot "teapot" "A teapot" kitchen::teapot, Stands (200, 220) "teapot, tea pot, coffee pot, moka pot, coffee maker";
    Mug "mug" "A mug" kitchen::mug, Stands (190, 230) "mug, cup, espresso cup, tumbler, beaker, cups and mugs";
    Plate "plate" "A plate" kitchen::plate, Lies (170, 170) "plate, dinner plate, saucer, platter, tableware, dish, dinner set, cutlery";
    Bowl "bowl" "A bowl" kitchen::bowl, Stands (200, 230) "bowl, salad bowl, baking dish, mixing bowl, tray";
    Pan "pan" "A pan" kitchen::pan, Lies (180, 210) "pan, frying pan, skillet, wok, griddle, sauté pan, pots and pans, cookware";
    Pot "pot" "A pot with a lid" kitchen::pot, Stands (200, 220) "pot, saucepan, casserole, dutch oven, stockpot, steamer, stewpot";
    Knife "knife" "A knife" kitchen::knife, Lies (240, 170) "knife, cleaver, chef's knife, whetstone, knives, peeler";
    Board "board" "A cutting board" kitchen::board, Lies (200, 180) "board, cutting board, chopping board, serving board, cheese board";
    Utensils "utensils" "A crock of kitchen tools" kitchen::utensils, Stands (200, 160) "utensil, spoon, spatula, whisk, ladle, turner, tongs, kitchen tool, kitchen, colander, grater, sieve, rolling pin, kitchen helper";
    Carafe "carafe" "A carafe" kitchen::carafe, Stands (200, 230) "carafe, glass, pitcher, jug, wine glass, water glass, glassware, decanter, glasses and carafes, pour-over";
    Bottle "bottle" "A drinking bottle" kitchen::bottle, Stands (200, 180) "bottle, flask, thermos, water bottle, vacuum flask, drinking bottle, travel mug";
    Grinder "grinder" "A coffee grinder" kitchen::grinder, Stands (200, 180) "grinder, mill, coffee grinder, pepper mill, coffee mill, salt mill";
    CoffeeBag "coffee-bag" "A bag of coffee" pantry::coffee_bag, Stands (200, 210) "coffee, espresso, roast, coffee bean, pantry, flour, pasta, granola, muesli, food";
    TeaTin "tea-tin" "A tin of tea" pantry::tea_tin, Stands (200, 220) "tea, tea tin, tin, infusion, spice, herb, salt, biscuit";
    Jar "jar" "A jar of jam" pantry::jar, Stands (200, 230) "jam, jar, honey, marmalade, preserve, chutney, pickle, mustard, jelly, spread";
    Chocolate "chocolate" "A bar of chocolate" pantry::chocolate, Lies (200, 150) "chocolate, cocoa, praline, nougat, sweet, sweets";
    Oil "oil" "A bottle of oil" pantry::oil, Stands (200, 210) "oil, olive oil, vinegar, syrup, wine, cordial, juice";
    Soap "soap" "Soap" pantry::soap, Stands (200, 230) "soap, shampoo, lotion, hand wash, soap dish, bath and body, dispenser, brush, sponge, cream";
    PlantPot "plant-pot" "A plant in a pot" garden::plant_pot, Stands (200, 210) "plant pot, flower pot, planter, plant, herb pot, pots and planters, garden, succulent, cactus";
    Vase "vase" "A vase of flowers" garden::vase, Stands (200, 150) "vase, flower, bouquet, vases";
    WateringCan "watering-can" "A watering can" garden::watering_can, Stands (190, 220) "watering can, watering, hose, sprinkler, mister";
    Spade "spade" "A garden trowel" garden::spade, Lies (230, 220) "spade, trowel, shovel, rake, hoe, garden fork, hand fork, garden tool, weeder, cultivator, dibber";
    Shears "shears" "Secateurs" garden::shears, Lies (200, 180) "shears, secateur, pruner, pruning, loppers, grass shears, hedge shears";
    Seeds "seeds" "A packet of seeds" garden::seeds, Lies (200, 230) "seed, seeds, bulbs, seed box, seed mix";
    BirdHouse "bird-house" "A bird house" garden::bird_house, Stands (200, 190) "bird house, birdhouse, bird feeder, nesting box, nest box, insect hotel, wildlife, feeder";
    Backpack "backpack" "A backpack" travel::backpack, Stands (200, 180) "backpack, daypack, rucksack, knapsack, pannier, school bag, backpacks and bags";
    Tent "tent" "A tent" travel::tent, Floor (200, 220) "tent, tarp, camping, sleeping bag, hiking, hammock";
    Suitcase "suitcase" "A suitcase" travel::suitcase, Stands (200, 190) "suitcase, luggage, trolley, weekender, travel, trunk, cabin case";
    Tote "tote" "A tote bag" travel::tote, Hangs (200, 210) "tote, tote bag, bag, shopper, market bag, handbag, pouch, wallet, purse, pen roll, wash bag";
    Bell "bell" "A bicycle bell" travel::bell, Stands (190, 200) "bell, bicycle bell, bicycle, bike, cycling, pump, multi-tool, bicycle pump, helmet, puncture kit";
    Torch "torch" "A torch" travel::torch, Lies (170, 210) "torch, headlamp, flashlight, lantern, head torch, light set, bicycle light";
    Umbrella "umbrella" "An umbrella" travel::umbrella, Hangs (200, 160) "umbrella, parasol, poncho";
    Shoe "shoe" "A shoe" wear::shoe, Stands (210, 240) "shoe, boot, sneaker, slipper, trainer, sandal, clog, shoes, footwear, hiking boot, wellington";
    Jacket "jacket" "A jacket" wear::jacket, Hangs (200, 170) "jacket, coat, anorak, parka, raincoat, cardigan, jumper, sweater, shirt, overshirt, vest, fleece, clothing, gilet, t-shirt, outerwear, trousers";
    Scarf "scarf" "A scarf" wear::scarf, Hangs (200, 190) "scarf, shawl, snood, bandana, scarves, neck warmer";
    Hat "hat" "A hat" wear::hat, Stands (200, 200) "hat, cap, beanie, bobble hat, sun hat, hats";
    Socks "socks" "A pair of socks" wear::socks, Hangs (200, 200) "sock, glove, mitten, tights, legging, socks and gloves, gardening glove, belt";
    Book "book" "A book" desk::book, Stands (190, 180) "book, cookbook, novel, guide, atlas, picture book, album, field guide, reader";
    Notebook "notebook" "A notebook" desk::notebook, Lies (190, 180) "notebook, journal, diary, planner, sketch pad, sketchbook, notepad, pad, calendar, paper, wall planner, paper and notebooks";
    Pen "pen" "A pen" desk::pen, Lies (200, 230) "pen, fountain pen, ballpoint, rollerball, ink, gel pen, marker, brush pen, highlighter, writing, mechanical pencil";
    Pencils "pencils" "A cup of pencils" desk::pencils, Stands (200, 150) "pencil, crayon, colouring pencil, paint, watercolour, pen pot, pen cup, chalk, eraser, craft, coloured pencil, office, stationery";
    Scissors "scissors" "Scissors" desk::scissors, Lies (200, 220) "scissors, scissor, stapler, ruler, tape, punch, letter opener, paper knife, cutter";
    Envelope "envelope" "A letter" desk::envelope, Lies (200, 230) "envelope, letter, card, greeting card, postcard, index card, writing paper, sticker, stamp, gift wrap";
    Headphones "headphones" "Headphones" desk::headphones, Stands (150, 200) "headphone, headphones, headset, earphone, earbud, ear muff, sound";
    Speaker "speaker" "A loudspeaker" desk::speaker, Stands (200, 210) "speaker, radio, soundbar, loudspeaker, record player, turntable, audio";
    Keyboard "keyboard" "A keyboard" desk::keyboard, Lies (200, 210) "keyboard, mouse, laptop stand, trackpad, monitor, laptop, charger, cable, computer, numpad, hub, device, electronics";
    Camera "camera" "A camera" desk::camera, Stands (200, 220) "camera, lens, instant camera, binocular, tripod, photo, webcam";
    PhoneCase "phone-case" "A phone case" desk::phone_case, Lies (190, 160) "phone case, phone, tablet sleeve, sleeve, laptop sleeve, smartphone, tablet, case, phone stand, power bank";
    ToyCar "toy-car" "A toy car" play::toy_car, Stands (200, 230) "toy car, car, truck, train, lorry, tractor, vehicle, fire engine, racing car, push car, van";
    Blocks "blocks" "Building blocks" play::blocks, Stands (200, 220) "block, blocks, building block, brick, stacking, toy, marble run, wooden toy, play, stacker, play set";
    Ball "ball" "A ball" play::ball, Stands (200, 210) "ball, football, basketball, beach ball, juggling ball, skittles, yo-yo, boules, outdoor toy";
    Bear "bear" "A teddy bear" play::bear, Stands (200, 150) "bear, teddy, doll, soft toy, plush, cuddly toy, rabbit, comforter, puppet, baby, rattle";
    Kite "kite" "A kite" play::kite, Hangs (210, 150) "kite, glider, frisbee, boomerang, flying disc, windmill";
    Puzzle "puzzle" "A puzzle" play::puzzle, Lies (200, 200) "puzzle, jigsaw, game, board game, card game, dominoes, memory game, games, playing card, dice game, chess set";
    Parcel "parcel" "A tied parcel" play::parcel, Stands (200, 200) "parcel, gift, gift box, hamper box, voucher, present, gift set, gift card";
}

impl Motif {
    pub fn name(self) -> &'static str {
        self.kind().name
    }

    pub fn named(name: &str) -> Option<Motif> {
        Motif::ALL.iter().copied().find(|motif| motif.name() == name)
    }

    /// The kind that a product or a category is, by the words of its name. Two words that belong together count before one,
    /// the last before the first: a table lamp is a lamp, and what comes after "with" or a comma is not what is sold.
    pub fn from_words(text: &str) -> Option<Motif> {
        let text = text.to_lowercase();
        let end = [",", "(", " with ", " for ", " of ", " without ", " from "]
            .iter()
            .filter_map(|stop| text.find(stop))
            .min();
        let head = end.map_or(text.as_str(), |end| &text[..end]);
        best(head).or_else(|| best(&text))
    }

    /// As `from_words`, and a tied parcel for what is not known.
    pub fn of(text: &str) -> Motif {
        Motif::from_words(text).unwrap_or(Motif::Parcel)
    }
}

/// Words of a name that are looked at.
const WORDS_MAX: usize = 24;

fn best(text: &str) -> Option<Motif> {
    let words: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || "'-".contains(c))).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).take(WORDS_MAX).collect();
    for length in [3, 2, 1] {
        for at in (0..(words.len() + 1).saturating_sub(length)).rev() {
            let phrase = words[at..at + length].join(" ");
            let known = |motif: &Motif| motif.kind().words.split(", ").any(|word| is_word(&phrase, word));
            if let Some(motif) = Motif::ALL.iter().copied().find(known) {
                return Some(motif);
            }
        }
    }
    None
}

/// The word, or several of it.
fn is_word(said: &str, word: &str) -> bool {
    let rest = said.strip_prefix(word);
    rest.is_some_and(|rest| matches!(rest, "" | "s" | "es"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_known_by_the_words_of_its_name() {
        for (name, motif) in [
            ("Desk lamp Fjord", Motif::DeskLamp),
            ("Walnut desk lamp", Motif::DeskLamp),
            ("Wool blanket, grey", Motif::Blanket),
            ("Espresso cups, set of four", Motif::Mug),
            ("Teapot with strainer", Motif::Teapot),
            ("Cast iron pan, 26 cm", Motif::Pan),
            ("Coffee and tea", Motif::TeaTin),
            ("Chef's knife, 20 cm", Motif::Knife),
            ("WATERING CAN", Motif::WateringCan),
            ("Lamps", Motif::TableLamp),
            ("Brass bell", Motif::Bell),
            ("Jar of jam", Motif::Jar),
        ] {
            assert_eq!(Motif::from_words(name), Some(motif), "{name}");
        }
        assert_eq!(Motif::from_words(""), None);
        assert_eq!(Motif::from_words("Quux 3000 ☃"), None);
        assert_eq!(Motif::of("Quux 3000"), Motif::Parcel);
        assert_eq!(Motif::from_words(&"lamp ".repeat(100_000)), Some(Motif::TableLamp));
    }

    #[test]
    fn names_are_words_and_belong_to_one() {
        for motif in Motif::ALL {
            let name = motif.name();
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{name}");
            assert_eq!(Motif::named(name), Some(*motif));
        }
    }
}
