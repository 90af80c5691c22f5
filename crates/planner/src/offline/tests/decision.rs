use super::company;
use crate::offline::Planned;

fn code(planned: &Planned) -> String {
    match planned {
        Planned::Plan { reading, .. } => reading.clone(),
        Planned::Sql { .. } => "sql".to_owned(),
        Planned::Clarify(question) => format!("? {}", question.question),
        Planned::Refuse(fault) => format!("! {}", fault.code),
    }
}

#[test]
fn it_answers_asks_or_refuses() {
    let index = company();
    for (question, expected) in [
        ("how many customers are there per tier", "number of customers per tier"),
        ("SELECT 1", "sql"),
        ("top 5 customers", "? By what should `customers` be ranked?"),
        ("how many orders did Ann place in 2024", "? Which `Ann` do you mean?"),
        ("how many frobs are there", "! plan.words_not_understood"),
        ("total rainfall per customer", "! plan.not_in_data"),
        ("hello", "! plan.not_a_question"),
        ("wie viele Kunden haben wir", "! plan.other_language"),
        ("customers in the gold tier", "! plan.words_not_understood"),
    ] {
        assert_eq!(code(&index.planned(question)), expected, "{question}");
    }
}

#[test]
fn a_choice_settles_what_was_asked_back() {
    let index = company();
    let question = "top 5 customers";
    let Planned::Clarify(clarification) = index.planned(question) else { panic!("not asked back") };
    let choice = clarification.choices[0].clone();
    let turn = domain::Turn {
        question: question.to_owned(),
        plan: None,
        clarification: Some(clarification),
        answer: String::new(),
    };
    let context = crate::offline::Context { history: &[turn], today: super::TODAY };
    let settled = crate::offline::plan(&index, &choice, &context);
    assert!(matches!(settled, Planned::Plan { ref plan, .. } if plan.limit == Some(5)), "{settled:?}");
}
