//! Reaching for other machines and other processes' sockets.

use crate::{Attempt, Case, called, raw};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};

pub const CASES: &[Case] = &[
    ("tcp", |_| TcpStream::connect("1.1.1.1:443").map(|_| "connected".into())),
    ("loopback", |_| TcpStream::connect("127.0.0.1:22").map(|_| "connected".into())),
    ("listen", |_| TcpListener::bind("127.0.0.1:0").map(|_| "bound".into())),
    ("udp", |_| UdpSocket::bind("0.0.0.0:0").map(|_| "bound".into())),
    ("icmp", |_| socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP)),
    ("raw", |_| socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("tcp_6", |_| TcpStream::connect("[::1]:22").map(|_| "connected".into())),
    ("cloud_metadata", |_| TcpStream::connect("169.254.169.254:80").map(|_| "connected".into())),
    ("packets", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("bluetooth", |_| socket(libc::AF_BLUETOOTH, libc::SOCK_RAW, 0)),
    ("express_data_path", |_| socket(libc::AF_XDP, libc::SOCK_RAW, 0)),
    ("kernel_crypto", |_| socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("key_management", |_| socket(libc::AF_KEY, libc::SOCK_RAW, 2)),
    ("tipc", |_| socket(libc::AF_TIPC, libc::SOCK_SEQPACKET, 0)),
    ("multipath_tcp", |_| socket(libc::AF_INET, libc::SOCK_STREAM, 262)),
    ("netlink", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
    ("vsock", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("dns", |_| ("example.com", 80).to_socket_addrs().map(|a| a.count().to_string())),
    ("abstract_socket", |_| {
        SocketAddr::from_abstract_name("abuse").and_then(|a| UnixListener::bind_addr(&a)).map(|_| "bound".into())
    }),
    ("pathname_socket", |s| UnixStream::connect(s.open.join("socket")).map(|_| "connected".into())),
    ("engine_socket", |_| UnixStream::connect("/var/run/docker.sock").map(|_| "connected".into())),
    ("system_bus", |_| UnixStream::connect("/run/dbus/system_bus_socket").map(|_| "connected".into())),
    ("abstract_socket_of_other", |_| {
        SocketAddr::from_abstract_name("abuse").and_then(|a| UnixStream::connect_addr(&a)).map(|_| "connected".into())
    }),
    ("pass_descriptor", raw!(libc::SYS_sendmsg, 1, 0_usize, 0)),
    ("take_descriptor", raw!(libc::SYS_recvmsg, 0, 0_usize, 0)),
    ("socket_in_tmp", |s| UnixDatagram::bind(s.tmp.join("s")).map(|_| "bound".into())),
    ("socket_pair", |_| UnixStream::pair().map(|_| "made".into())),
];

fn socket(family: i32, kind: i32, protocol: i32) -> Attempt {
    // SAFETY: makes a descriptor or fails.
    called(unsafe { libc::socket(family, kind, protocol) })
}
