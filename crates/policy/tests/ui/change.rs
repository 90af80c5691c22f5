//! What was approved stays as it was approved.
fn change(approved: &mut policy::Approved) {
    approved.sql.push_str("; DROP TABLE cases");
}

fn main() {
    let _ = change;
}
