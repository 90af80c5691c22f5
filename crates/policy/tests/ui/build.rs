//! Its fields are private.
fn main() {
    let _ = policy::Approved {
        source: String::new(),
        sql: "DROP TABLE cases".to_owned(),
    };
}
