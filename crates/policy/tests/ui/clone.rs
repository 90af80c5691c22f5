//! One approval is one run.
fn again(approved: &policy::Approved) -> policy::Approved {
    approved.clone()
}

fn main() {
    let _ = again;
}
