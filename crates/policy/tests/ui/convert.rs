//! A proposal does not become an approval by conversion.
fn main() {
    let proposal = domain::Proposal::Sql { source: "crm".to_owned(), text: "SELECT 1".to_owned() };
    let _: policy::Approved = proposal.into();
}
