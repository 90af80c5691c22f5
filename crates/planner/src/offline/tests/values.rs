use super::company;
use crate::offline::values::Owned;

fn shown(found: &[Owned]) -> Vec<&str> {
    found.iter().map(|o| o.value.as_str()).collect()
}

#[test]
fn values_are_found_whole_whatever_their_case() {
    let index = company();
    for (text, value) in [("enterprise", "enterprise"), ("desk lamp", "Desk Lamp"), ("lighting", "Lighting")] {
        assert_eq!(shown(index.values.exact(text)), [value]);
    }
    assert!(index.values.exact("lamp").is_empty(), "a part is not the whole");
}

#[test]
fn parts_are_found_where_all_values_are_known() {
    let index = company();
    assert_eq!(shown(&index.values.with_words(&["lamp"])), ["Desk Lamp", "Trail Lamp"]);
    assert_eq!(shown(&index.values.with_words(&["trail", "lamp"])), ["Trail Lamp"]);
    assert!(index.values.with_words(&["dora"]).is_empty(), "of a column that is cut short nothing is certain");
}

#[test]
fn one_wrong_letter_in_a_longer_value_is_forgiven() {
    let index = company();
    assert_eq!(shown(&index.values.misspelt("enterprize")), ["enterprise"]);
    assert_eq!(shown(&index.values.misspelt("completd")), ["completed"]);
    assert!(index.values.misspelt("fre").is_empty() && index.values.misspelt("entrprize").is_empty());
}

#[test]
fn it_is_known_what_is_known() {
    let index = company();
    let (tier, name) = (index.column("customers.tier"), index.column("employees.name"));
    assert!(index.values.is_complete(tier) && index.values.is_category(tier));
    assert_eq!(index.values.count(tier), Some(3));
    assert!(index.values.is_known(name) && !index.values.is_complete(name));
    assert_eq!(index.values.count(name), None);
}
