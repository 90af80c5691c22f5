//! Comparing two copies, one request after the other.

use super::pair::{DATASETS, Side, sides};
use super::requests::{self, Request};
use super::told::{differ_by_version_only, has_rows, run_id, session_id, told};
use testkit::Reply;

/// All that came of the comparisons.
#[derive(Default)]
pub struct Compared {
    pairs: usize,
    replies: usize,
    with_rows: usize,
    runs: usize,
    differences: Vec<String>,
}

impl Compared {
    /// Asks everything of two copies, of which one holds what a seed makes up.
    pub fn of_seed(seed: u64) -> Self {
        // Seeds ask the records of their runs in another turn each.
        let mut compared = Self { pairs: DATASETS.len(), runs: seed as usize, ..Self::default() };
        let sides = sides(seed);
        requests::all().iter().for_each(|request| compared.compare(&sides, request));
        compared
    }

    pub fn add(mut self, other: Self) -> Self {
        self.pairs += other.pairs;
        self.replies += other.replies;
        self.with_rows += other.with_rows;
        self.runs += other.runs;
        self.differences.extend(other.differences);
        self
    }

    fn compare(&mut self, sides: &[Side; 2], request: &Request) {
        let mut replies = sides.each_ref().map(|side| request.send_until_told(side));
        // The version of a database on another machine is the time: it may have gone on between the two.
        let may_go_on = differ_by_version_only(&replies, "books");
        // Elapsed time is an exception: what an estimate has not found out in time is null.
        let is_timed = request.path.ends_with("/scan/estimate");
        if told(&replies[0]) != told(&replies[1]) && (may_go_on || is_timed) {
            replies = sides.each_ref().map(|side| request.send_until_told(side));
        }
        self.take(&request.shown(), &replies);
        let tag = replies[0].header("etag").to_owned();
        if !tag.is_empty() {
            let again = request.knowing(&tag);
            self.take_unchanged(&request.shown(), &sides.each_ref().map(|side| again.send(side)));
        }
        self.compare_records(sides, request, &replies);
    }

    /// Asks the record of a request afterwards. Rows that were streamed are not in it, nor are they in the text of a
    /// statement, nor in the answer to who would cancel what has ended: these count for nothing.
    fn compare_records(&mut self, sides: &[Side; 2], request: &Request, replies: &[Reply; 2]) {
        let mut asked: Vec<[Request; 2]> = Vec::new();
        if let [Some(one), Some(other)] = replies.each_ref().map(run_id) {
            let [of_one, of_other] = [one, other].map(|id| requests::of_run(&id, self.runs));
            asked.extend(of_one.into_iter().zip(of_other).map(<[Request; 2]>::from));
            self.runs += 1;
        } else if let [Some(one), Some(other)] = replies.each_ref().map(session_id) {
            asked.push([one, other].map(|id| requests::of_session(&id)));
        }
        let is_streamed = !replies[0].header("x-gatehouse-run-id").is_empty();
        for [one, other] in asked {
            let what = format!("{} after {}", one.shown(), request.shown());
            let counts = !is_streamed && one.method != "DELETE" && !one.path.ends_with("/sql");
            let told = [one.send(&sides[0]), other.send(&sides[1])];
            if counts { self.take(&what, &told) } else { self.differ(&what, &told) }
        }
    }

    /// Callers who have it already get nothing again, from neither. It has no rows to speak of, and counts for nothing.
    fn take_unchanged(&mut self, what: &str, replies: &[Reply; 2]) {
        if replies.iter().any(|reply| reply.status != 304) {
            self.differences.push(format!("{what}\n  {} and {}, not 304", replies[0].status, replies[1].status));
        }
    }

    fn take(&mut self, what: &str, replies: &[Reply; 2]) {
        self.replies += 1;
        self.with_rows += usize::from(has_rows(&replies[0]));
        self.differ(what, replies);
    }

    fn differ(&mut self, what: &str, replies: &[Reply; 2]) {
        let [one, other] = replies.each_ref().map(told);
        if one != other {
            self.differences.push(format!("{what}\n  {one:.1500}\n  {other:.1500}"));
        }
    }

    pub fn settle(self, what: &str) {
        let Self { pairs, replies, with_rows, differences, .. } = self;
        testkit::compared_pairs("house", what, pairs, replies, with_rows, differences.len());
        assert!(differences.is_empty(), "{} of {replies} differ:\n{}", differences.len(), differences.join("\n"));
        assert!(
            with_rows * 10 >= replies * 8,
            "{with_rows} of {replies} have rows: refusing everything proves nothing"
        );
    }
}
