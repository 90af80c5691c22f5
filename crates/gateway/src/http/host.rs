//! Whom a request is for: one host, said in one way.
//!
//! A request may name its host twice: in `Host`, and in its target (`GET http://host/…`, HTTP/2's `:authority`). A proxy
//! may have gone by the one that the server does not look at, so two that differ are none.

use axum::http::{HeaderMap, Request, Version, header};

/// A host as requests write it.
#[derive(Debug, Clone, Copy)]
pub struct Host<'r> {
    /// As it was written.
    pub text: &'r str,
    /// Without port and brackets.
    pub name: &'r str,
    port: Option<u16>,
}

impl<'r> Host<'r> {
    /// The host of a request, or what is wrong with it.
    pub fn of<B>(request: &'r Request<B>) -> Result<Self, &'static str> {
        let target = request.uri().authority().map(|authority| Self::parse(authority.as_str())).transpose()?;
        let header = Self::in_headers(request.headers())?;
        match (header, target) {
            (Some(header), Some(target)) if !header.is_same(&target) => {
                Err("`Host` and the target name different hosts")
            }
            (Some(header), _) => Ok(header),
            (None, Some(target)) if request.version() != Version::HTTP_11 => Ok(target),
            (None, _) => Err("`Host` is missing"),
        }
    }

    fn in_headers(headers: &'r HeaderMap) -> Result<Option<Self>, &'static str> {
        let mut all = headers.get_all(header::HOST).iter();
        let Some(first) = all.next() else { return Ok(None) };
        if all.next().is_some() {
            return Err("there is more than one `Host`");
        }
        Self::parse(first.to_str().map_err(|_| MALFORMED)?).map(Some)
    }

    /// `name`, `name:port`, `[address]` or `[address]:port`.
    fn parse(text: &'r str) -> Result<Self, &'static str> {
        let (name, port, fits): (_, _, fn(char) -> bool) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']').ok_or(MALFORMED)?;
                (name, port, |c| c.is_ascii_hexdigit() || c == ':' || c == '.')
            }
            None => {
                let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
                (name, port, |c| c.is_ascii_alphanumeric() || "-._".contains(c))
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().map_err(|_| MALFORMED)?)
            }
            _ => return Err(MALFORMED),
        };
        // Nobody at all is somebody else: the caller says so.
        let is_nobody = text.is_empty();
        if !is_nobody && (name.is_empty() || !name.chars().all(fits)) {
            return Err(MALFORMED);
        }
        Ok(Self { text, name, port })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.name.eq_ignore_ascii_case(other.name) && self.port == other.port
    }
}

const MALFORMED: &str = "the host is malformed";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: Version, target: &str, hosts: &[&str]) -> Result<String, &'static str> {
        let mut request = Request::builder().version(version).uri(target);
        for host in hosts {
            request = request.header("host", *host);
        }
        let request = request.body(()).unwrap();
        Host::of(&request).map(|host| host.name.to_owned())
    }

    #[test]
    fn a_host_is_named_once_or_twice_the_same() {
        let (one, two) = (Version::HTTP_11, Version::HTTP_2);
        let good: [(Version, &str, &[&str], &str); 11] = [
            (one, "/", &["localhost"], "localhost"),
            (one, "/", &["localhost:8080"], "localhost"),
            (one, "/", &["127.0.0.1:1"], "127.0.0.1"),
            (one, "/", &["[::1]:8080"], "::1"),
            (one, "/", &["[::1]"], "::1"),
            (one, "/", &[""], ""),
            (one, "http://localhost:8080/x", &["LOCALHOST:8080"], "LOCALHOST"),
            (one, "http://[::1]:80/x", &["[::1]:80"], "::1"),
            (two, "https://localhost:8080/x", &[], "localhost"),
            (two, "https://localhost:8080/x", &["localhost:8080"], "localhost"),
            (Version::HTTP_10, "http://localhost/", &[], "localhost"),
        ];
        for (version, target, hosts, name) in good {
            assert_eq!(of(version, target, hosts).as_deref(), Ok(name), "{target} {hosts:?}");
        }
    }

    #[test]
    fn anything_else_names_nobody() {
        let bad: [(Version, &str, &[&str]); 27] = [
            (Version::HTTP_11, "/", &[]),
            (Version::HTTP_10, "/", &[]),
            (Version::HTTP_2, "/", &[]),
            (Version::HTTP_11, "http://localhost/", &[]),
            (Version::HTTP_11, "/", &["localhost", "localhost"]),
            (Version::HTTP_11, "/", &["localhost", "evil.example"]),
            (Version::HTTP_11, "http://evil.example/", &["localhost"]),
            (Version::HTTP_11, "http://localhost/", &["evil.example"]),
            (Version::HTTP_11, "http://localhost:1/", &["localhost:2"]),
            (Version::HTTP_11, "http://localhost/", &["localhost:80"]),
            (Version::HTTP_11, "http://localhost/", &[""]),
            (Version::HTTP_11, "http://evil@localhost/", &["localhost"]),
            (Version::HTTP_2, "https://evil.example/", &["localhost"]),
            (Version::HTTP_2, "https://localhost/", &["evil.example"]),
            (Version::HTTP_2, "https://localhost/", &["localhost", "localhost"]),
            (Version::HTTP_11, "/", &["localhost:80:80"]),
            (Version::HTTP_11, "/", &["localhost:"]),
            (Version::HTTP_11, "/", &["localhost:99999"]),
            (Version::HTTP_11, "/", &["localhost:+1"]),
            (Version::HTTP_11, "/", &[":80"]),
            (Version::HTTP_11, "/", &["localhost, evil.example"]),
            (Version::HTTP_11, "/", &["localhost/evil"]),
            (Version::HTTP_11, "/", &["evil@localhost"]),
            (Version::HTTP_11, "/", &["[::1"]),
            (Version::HTTP_11, "/", &["[::1]evil"]),
            (Version::HTTP_11, "/", &["[]:80"]),
            (Version::HTTP_11, "/", &["local%68ost"]),
        ];
        for (version, target, hosts) in bad {
            assert!(of(version, target, hosts).is_err(), "{target} {hosts:?}");
        }
    }
}
