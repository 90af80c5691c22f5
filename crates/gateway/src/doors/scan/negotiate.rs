//! What a client wants a result as: `Accept`, and for Arrow `Accept-Encoding`.

use axum::http::{HeaderMap, HeaderName, header};
use domain::{Fault, Kind};
use engines::{Compression, Form, Packing};

pub const ARROW: &str = "application/vnd.apache.arrow.stream";
pub const PARQUET: &str = "application/vnd.apache.parquet";

pub fn content_type(form: Form) -> &'static str {
    match form {
        Form::Arrow | Form::Packed(_) => ARROW,
        Form::Parquet => PARQUET,
        Form::Csv => "text/csv; charset=utf-8; header=present",
        Form::Json | Form::Estimate | Form::Digest => "application/json",
    }
}

/// The first form of `Accept` that we have; the usual one, if the client says nothing or does not care.
pub fn form(headers: &HeaderMap, usual: Form) -> Result<Form, Fault> {
    let accepted = listed(headers, header::ACCEPT);
    if accepted.is_empty() {
        return Ok(usual);
    }
    let known = |item: &String| {
        let (kind, parameters) = item.split_once(';').unwrap_or((item, ""));
        match kind.trim() {
            ARROW => Some(packed(headers, parameters)),
            PARQUET => Some(Form::Parquet),
            "text/csv" => Some(Form::Csv),
            "application/json" => Some(Form::Json),
            "*/*" | "application/*" => Some(usual),
            _ => None,
        }
    };
    accepted.iter().find_map(known).ok_or_else(|| {
        let shown: String = accepted.join(", ").chars().take(100).collect();
        Fault::new(Kind::Invalid, "request.accept", format!("a result cannot be had as `{shown}`"))
            .hint(format!("accept `{ARROW}`, `{PARQUET}`, `text/csv` or `application/json`"))
    })
}

/// Arrow packs its own buffers, which every reader unpacks by itself. Only who names Arrow is asked for it: other
/// clients list codings without meaning this one.
fn packed(headers: &HeaderMap, parameters: &str) -> Form {
    let parameter = |name: &str| parameters.split(';').find_map(|p| p.trim().strip_prefix(name)?.strip_prefix('='));
    let codings = listed(headers, header::ACCEPT_ENCODING);
    let mut wanted = parameter("compression").into_iter().chain(codings.iter().map(String::as_str));
    let compression = wanted.find_map(|coding| match coding.split(';').next().unwrap_or_default().trim() {
        "lz4" => Some(Some(Compression::Lz4)),
        "zstd" => Some(Some(Compression::Zstd)),
        "none" | "identity" => Some(None),
        _ => None,
    });
    let packing = Packing { compression: compression.flatten(), dictionary: parameter("dictionary") == Some("true") };
    if packing == Packing::default() { Form::Arrow } else { Form::Packed(packing) }
}

fn listed(headers: &HeaderMap, name: HeaderName) -> Vec<String> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    let items = values.flat_map(|v| v.split(',')).map(|item| item.trim().to_ascii_lowercase());
    items.filter(|item| !item.is_empty() && !is_refused(item)).collect()
}

/// `q=0`: anything but this.
fn is_refused(item: &str) -> bool {
    let weight = item.split(';').find_map(|p| p.trim().strip_prefix("q="));
    weight.and_then(|weight| weight.trim().parse::<f64>().ok()).is_some_and(|weight| weight == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_follow_from_headers() {
        let packed = |compression, dictionary| Some(Form::Packed(Packing { compression, dictionary }));
        let (lz4, zstd) = (Some(Compression::Lz4), Some(Compression::Zstd));
        for (accept, encoding, expected) in [
            ("", "", Some(Form::Arrow)),
            ("*/*", "gzip, deflate, br, zstd", Some(Form::Arrow)),
            (ARROW, "", Some(Form::Arrow)),
            (ARROW, "lz4", packed(lz4, false)),
            (ARROW, "lz4;q=0, zstd", packed(zstd, false)),
            (ARROW, "gzip, zstd;q=0.9", packed(zstd, false)),
            ("application/vnd.apache.arrow.stream; compression=zstd", "lz4", packed(zstd, false)),
            ("application/vnd.apache.arrow.stream; dictionary=true", "", packed(None, true)),
            ("application/vnd.apache.arrow.stream; dictionary=true", "lz4", packed(lz4, true)),
            ("application/vnd.apache.arrow.stream;compression=none", "lz4", Some(Form::Arrow)),
            ("application/vnd.apache.parquet", "zstd", Some(Form::Parquet)),
            ("text/csv;q=0.9, */*", "", Some(Form::Csv)),
            ("text/html, application/json", "", Some(Form::Json)),
            ("text/csv;q=0, application/json", "", Some(Form::Json)),
            ("text/html", "", None),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in [(header::ACCEPT, accept), (header::ACCEPT_ENCODING, encoding)] {
                if !value.is_empty() {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            assert_eq!(form(&headers, Form::Arrow).ok(), expected, "{accept} {encoding}");
        }
    }
}
