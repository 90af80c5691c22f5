//! What must not compile: an engine given anything but what policy has approved.

#[test]
fn engines_take_nothing_but_approved() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
