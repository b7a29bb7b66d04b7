//! Where a request comes from: the socket's other end, or what a proxy that is trusted says.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

/// The other end of the socket, which the listener notes on each request.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// The nearest address that is not a trusted proxy's. What stands before it in the header anyone may have written.
pub fn address(peer: Option<Peer>, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |Peer(address)| address.ip().to_canonical());
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(&peer) {
        return peer;
    }
    let lines = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
    let mut nearest = peer;
    let addresses: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    for text in addresses.into_iter().rev() {
        let Ok(address) = text.parse::<IpAddr>() else { break };
        nearest = address.to_canonical();
        if !is_trusted(&nearest) {
            break;
        }
    }
    nearest
}

/// One who has an address of IPv6 has its whole network.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
    }
}
