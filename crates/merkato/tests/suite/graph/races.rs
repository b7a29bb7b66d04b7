//! Changes that meet.

use futures::future::join_all;
use merkato::{
    Context,
    graph::{self, ConnectionType, Degree, Error, NewConnection},
    id::UserId,
};
use widerow_testing::Target;

use super::{followers, listed, person, small_buckets, sound};
use crate::{
    hierarchy::races::row_by_row,
    world::{World, patiently},
};

use ConnectionType::{Block, Follow, Friend};

widerow_testing::cases!(
    of_a_friendship_and_a_block_at_once_the_block_stands,
    many_who_follow_one_at_once_are_all_counted,
    two_who_change_one_pair_again_and_again_are_counted_right,
);

async fn connect(ctx: &Context, user: UserId, of: ConnectionType, other: UserId) -> Result<(), Error> {
    let make = || graph::connect(ctx, user, of, other, NewConnection::default());
    patiently(make, Error::kind).await.map(drop)
}

async fn of_a_friendship_and_a_block_at_once_the_block_stands(target: &Target) {
    let world = World::new(target);
    let other = row_by_row(target, &world);
    let rounds = if target.name == "embedded" { 20 } else { 4 };
    for round in 0..rounds {
        let (a, b) = (person(2 * round), person(2 * round + 1));
        let (friends, back, blocked) = tokio::join!(
            connect(&world.ctx, a, Friend, b),
            connect(&other, b, Friend, a),
            connect(if round % 2 == 0 { &world.ctx } else { &other }, b, Block, a),
        );
        blocked.expect("a block is always made");
        for made in [friends, back] {
            assert!(matches!(made, Ok(()) | Err(Error::Blocked { .. })), "{made:?}");
        }
        for ctx in [&world.ctx, &other] {
            assert!(listed(ctx, a).await.is_empty() && followers(ctx, a).await.is_empty());
            assert_eq!(listed(ctx, b).await.into_iter().collect::<Vec<_>>(), [(Block, vec![a])]);
            assert!(followers(ctx, b).await.is_empty());
        }
    }
    sound(&world).await;
}

async fn many_who_follow_one_at_once_are_all_counted(target: &Target) {
    let world = small_buckets(target);
    let other = row_by_row(target, &world);
    let many = if target.name == "embedded" { 200 } else { 24 };
    let star = person(0);
    let each = (1..=many).map(|n| {
        let ctx = if n % 2 == 0 { &world.ctx } else { &other };
        async move {
            connect(ctx, person(n), Follow, star).await.expect("a follower");
            if n % 5 == 0 {
                let end = || graph::disconnect(ctx, person(n), Follow, star);
                patiently(end, Error::kind).await.expect("ended");
            }
        }
    });
    join_all(each).await;
    graph::settle_counts(&world.ctx).await.expect("counted");
    let left = i64::from(many - many / 5);
    let degree = graph::get_degree(&world.ctx, star).await.unwrap();
    assert_eq!(degree, Degree { followers: left, ..Degree::default() });
    assert_eq!(followers(&world.ctx, star).await[&Follow].len() as i64, left);
    sound(&world).await;
}

async fn two_who_change_one_pair_again_and_again_are_counted_right(target: &Target) {
    let world = World::new(target);
    let other = row_by_row(target, &world);
    let (a, b) = (person(1), person(2));
    let times = if target.name == "embedded" { 40 } else { 6 };
    let work = |ctx: Context, user: UserId, with: UserId, of: ConnectionType| async move {
        for _ in 0..times {
            match connect(&ctx, user, of, with).await {
                Ok(()) | Err(Error::Blocked { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
            match patiently(|| graph::disconnect(&ctx, user, of, with), Error::kind).await {
                Ok(()) | Err(Error::NotConnected { .. }) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    tokio::join!(
        work(world.ctx.clone(), a, b, Friend),
        work(other.clone(), b, a, Friend),
        work(other, a, b, Follow),
        work(world.ctx.clone(), b, a, Block),
    );
    graph::settle_counts(&world.ctx).await.expect("counted");
    for user in [a, b] {
        assert_eq!(graph::get_degree(&world.ctx, user).await.unwrap(), Degree::default());
        assert!(listed(&world.ctx, user).await.is_empty());
    }
    sound(&world).await;
}
