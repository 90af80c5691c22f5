use super::company;
use crate::offline::Index;
use crate::offline::lexicon::{Target, weight};
use crate::offline::text::{stem, tokenise};

/// What a phrase names, and how surely, best first.
fn names(index: &Index, phrase: &str) -> Vec<(String, f32)> {
    let lowers: Vec<&str> = phrase.split(' ').collect();
    let stems: Vec<String> = lowers.iter().map(|w| stem(w)).collect();
    let stems: Vec<&str> = stems.iter().map(String::as_str).collect();
    let name = |target: &Target| match target {
        Target::Table(t) => index.catalog.table(*t).name.clone(),
        Target::Column(c) => index.name_of(*c),
        Target::Product(q, p) => format!("{} × {}", index.name_of(*q), index.name_of(*p)),
    };
    let mut found: Vec<(String, f32)> = index.lexicon.get(&stems, &lowers).iter().map(|(t, w)| (name(t), *w)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

#[test]
fn whole_names_are_surest_then_their_noun_then_their_parts() {
    let index = company();
    for (phrase, first) in [
        ("customers", "customers"),
        ("customer", "customers"),
        ("unit price", "products.unitPrice"),
        ("unitprice", "products.unitPrice"),
        ("quantity", "order_lines.qty"),
        ("order lines", "order_lines"),
        ("signup date", "customers.signup_date"),
        ("remote", "employees.is_remote"),
    ] {
        let found = names(&index, phrase);
        assert_eq!(found.first().map(|(n, _)| n.as_str()), Some(first), "{phrase}: {found:?}");
        assert!(found[0].1 >= weight::NAME - 0.05, "{phrase}: {found:?}");
    }
    let price = names(&index, "price");
    assert!(price[0].0 == "products.unitPrice" && price[0].1 < weight::NAME, "{price:?}");
}

#[test]
fn what_a_contract_says_outranks_everything() {
    let index = company();
    assert_eq!(names(&index, "plan"), [("customers.tier".to_owned(), weight::CONTRACT)]);
}

#[test]
fn everyday_synonyms_are_known_and_less_sure() {
    let index = company();
    let found = names(&index, "clients");
    assert_eq!(found[0].0, "customers");
    assert!(found[0].1 <= weight::THESAURUS, "{found:?}");
    let wages = index.lexicon.related(&tokenise("wages"));
    assert!(wages.iter().any(|(t, _)| *t == Target::Column(index.column("employees.salary"))), "{wages:?}");
}

#[test]
fn one_wrong_letter_in_a_longer_word_is_forgiven() {
    let index = company();
    let misspelt =
        |word: &str| index.lexicon.misspelt(word).iter().any(|(t, _)| *t == Target::Table(index.table("customers")));
    assert!(misspelt("custmers") && misspelt("cutsomers") && misspelt("customerz"));
    assert!(!misspelt("consumers") && !misspelt("cust"));
}

#[test]
fn rows_that_point_at_rows_of_their_own_table_give_them_a_name() {
    let index = company();
    assert_eq!(names(&index, "manager")[0].0, "manager");
    assert_eq!(names(&index, "manager salary")[0].0, "manager.salary");
    assert_eq!(names(&index, "salary")[0].0, "employees.salary");
}
