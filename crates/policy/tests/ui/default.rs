//! There is no empty approval.
fn main() {
    let _ = policy::Approved::default();
}
