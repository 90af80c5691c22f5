//! It does not come out of a file or a message.
fn main() {
    let _: policy::Approved = serde_json::from_str("{}").unwrap();
}
