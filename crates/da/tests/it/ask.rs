//! Questions in words: to the server, and to what is here.

use crate::support::House;

#[test]
fn plan_and_sql_come_before_the_rows() {
    let house = House::new(10);
    let da = house.da();
    let server = da.run(&["ask", "total amount by region", "--dataset", "shop"]);
    assert_eq!(server.code, 0, "{}", server.err);
    for word in ["reading", "plan ", "sql "] {
        assert!(server.err.contains(word), "{}", server.err);
    }
    assert!(server.out.contains("EMEA"), "{}", server.out);
    let which = da.run(&["ask", "total amount by region"]);
    assert!(which.code == 2 && which.err.contains("which dataset?"), "{which:?}");

    let nothing = da.run(&["ask", "--local", "total amount by region"]);
    assert!(nothing.code == 2 && nothing.err.contains("there is nothing here to ask"), "{nothing:?}");
    da.ok(&["sync"]);
    let da = da.with("DA_SERVER", "http://127.0.0.1:1");
    insta::assert_snapshot!(da.shown(&["ask", "--local", "total amount by region"]));
    let refused = da.run(&["ask", "--local", "what is the colour of the sky"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("Hint: "));
}
