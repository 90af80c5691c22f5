//! Scripts from proposal to result: what is bound to what, what is good once, and that all of it is on record.

use crate::place::{self, Place};
use domain::package::{ClaimToken, Ending, ScriptResult, SignedPackage, Usage};
use domain::{Actor, Caller, Fault, Manifest, Risk, Run, ScriptProposal, Status};
use jiff::{SignedDuration, Timestamp};
use ledger::ops::{Answer, Draft, Enrolment, KeptProposal, LogPiece, PackageState, ProposalState, Sending, Verdict};
use ledger::{Ledger, NewToken};
use serde_json::json;

on_both! {
    a_code_enrols_once_and_ends_the_token_before,
    only_somebody_else_approves_and_only_what_they_saw,
    high_risk_needs_two_people,
    an_edit_voids_what_was_approved_even_when_it_is_undone,
    time_ends_what_waits,
    an_approval_sends_once,
    what_waits_too_long_is_closed_by_the_house,
    what_its_device_does_not_have_yet_can_be_taken_back,
    a_package_is_leased_and_ended_once,
    what_has_expired_is_not_fetched_again,
    a_log_has_an_end,
    a_log_is_taken_until_its_end_is_told_and_refusals_are_on_record,
    all_that_waits_is_seen_page_by_page,
    a_rollback_is_a_run_of_its_own,
    a_package_of_which_nothing_is_heard_is_closed_and_its_late_result_kept,
    a_package_is_not_closed_while_it_may_run,
    a_device_that_enrols_anew_is_not_given_what_it_had_before,
    a_run_that_was_taken_for_failed_is_closed_all_the_same,
}

const DEVICE: &str = "d-1";

fn engineer() -> Caller {
    Caller::new("eva", "engineer")
}

fn approver(name: &str) -> Caller {
    Caller::new(name, "approver")
}

fn device() -> Caller {
    Caller::new("device:d-1", "device")
}

fn in_seconds(seconds: i64) -> Timestamp {
    Timestamp::now() + SignedDuration::from_secs(seconds)
}

fn draft(script: &str, risk: Risk) -> Draft {
    let proposal = ScriptProposal {
        script: script.to_owned(),
        manifest: Manifest::default(),
        rollback: Some("true".to_owned()),
        intent: "a test".to_owned(),
    };
    let report = json!({ "violations": [] });
    Draft { proposal, report, risk, accepted: true, now: Timestamp::now(), expires_at: in_seconds(3600) }
}

async fn proposed(ledger: &Ledger, id: &str, risk: Risk) -> KeptProposal {
    ledger.propose_script(&engineer(), id, (DEVICE, None), draft(&format!("echo {id}"), risk)).await.unwrap()
}

fn verdict(kept: &KeptProposal) -> Verdict {
    let (proposal_id, digest) = (kept.proposal_id.clone(), kept.digest.clone());
    Verdict { proposal_id, digest, comment: String::new(), now: Timestamp::now() }
}

fn code<T: std::fmt::Debug>(answer: Answer<T>) -> String {
    answer.unwrap().unwrap_err().code
}

async fn kinds(ledger: &Ledger) -> Vec<String> {
    let state = serde_json::to_value(ledger.audit_state(100).await.unwrap()).unwrap();
    state["recent"].as_array().unwrap().iter().rev().map(|e| e["kind"].as_str().unwrap().to_owned()).collect()
}

async fn sent(ledger: &Ledger, kept: &KeptProposal) -> Result<Run, Fault> {
    let ready = ledger.approved_script(DEVICE, &kept.digest).await.unwrap().unwrap();
    send(ledger, kept, ready, in_seconds(3600)).await
}

async fn send(
    ledger: &Ledger,
    kept: &KeptProposal,
    ready: ledger::ops::Ready,
    expires_at: Timestamp,
) -> Result<Run, Fault> {
    let run = place::run("bea", "a script");
    let signed = SignedPackage {
        payload: kept.proposal_id.clone(),
        sha256: String::new(),
        key_id: String::new(),
        signature: String::new(),
    };
    let package_id = format!("pk-{}", kept.proposal_id);
    let sending = Sending { ready, package_id, signed, run: run.clone(), now: Timestamp::now(), expires_at };
    ledger.send_script(&approver("bea"), sending).await.unwrap().map(|()| run)
}

async fn approved(ledger: &Ledger, id: &str) -> KeptProposal {
    let kept = proposed(ledger, id, Risk::Medium).await;
    assert!(ledger.approve_script(&approver("bea"), verdict(&kept)).await.unwrap().unwrap().is_enough());
    kept
}

fn token(byte: u8) -> ClaimToken {
    ClaimToken::from_random(&[byte; 32])
}

async fn claimed(ledger: &Ledger, byte: u8) -> Option<String> {
    let times = (Timestamp::now(), in_seconds(600));
    ledger.claim_script(&device(), DEVICE, &token(byte), times).await.unwrap().map(|package| package.payload)
}

fn result(kept: &KeptProposal, exit_code: i32) -> ScriptResult {
    ScriptResult {
        package_id: format!("pk-{}", kept.proposal_id),
        digest: kept.digest.clone(),
        rollback: false,
        ending: Ending::Exited,
        code: None,
        exit_code: Some(exit_code),
        started_at: Timestamp::UNIX_EPOCH,
        duration_ms: 12,
        usage: Usage::default(),
        sandbox_tier: Some("T1".to_owned()),
        unenforced: Vec::new(),
        truncated: false,
    }
}

async fn a_code_enrols_once_and_ends_the_token_before(place: Place) {
    let ledger = place.open();
    let admin = Caller::new("root", "admin");
    let enrolment = || Enrolment {
        grants: json!({ "network": true }),
        sandbox_tier: "T1".to_owned(),
        cells: None,
        version: "1".to_owned(),
        now: Timestamp::now(),
    };
    let late = ledger.expect_device(&admin, DEVICE, "pump", in_seconds(-1)).await.unwrap();
    assert!(ledger.enrol_device(late.expose(), enrolment()).await.unwrap().is_err(), "expired");
    let first = ledger.expect_device(&admin, DEVICE, "pump", in_seconds(60)).await.unwrap();
    let enrolled = ledger.enrol_device(first.expose(), enrolment()).await.unwrap().unwrap();
    assert_eq!(enrolled.device_id, DEVICE);
    assert_eq!(ledger.device_of_token(enrolled.token.expose()).await.unwrap().as_deref(), Some(DEVICE));
    let claims = [("device".to_owned(), DEVICE.to_owned())].into();
    let forged = NewToken { actor: Actor::token("mallory"), role: "device".to_owned(), claims, expires_at: None };
    let (_, forged) = ledger.create_token(forged).await.unwrap();
    assert_eq!(ledger.device_of_token(forged.expose()).await.unwrap(), None, "nobody enrolled with it");
    let altered = enrolled.token.expose().replace(|c: char| c.is_ascii_digit(), "a");
    assert_eq!(ledger.device_of_token(&altered).await.unwrap(), None);
    let known = ledger.authenticate(enrolled.token.expose()).await.unwrap().unwrap();
    assert_eq!((known.role.as_str(), known.claims["device"].as_str()), ("device", DEVICE));
    assert!(ledger.enrol_device(first.expose(), enrolment()).await.unwrap().is_err(), "used");
    assert!(ledger.enrol_device("ghe_x_y", enrolment()).await.unwrap().is_err(), "malformed");
    let again = ledger.expect_device(&admin, DEVICE, "pump", in_seconds(60)).await.unwrap();
    assert!(ledger.authenticate(enrolled.token.expose()).await.unwrap().is_some(), "until the new code is used");
    assert!(ledger.enrol_device(again.expose(), enrolment()).await.unwrap().is_ok());
    assert_eq!(ledger.authenticate(enrolled.token.expose()).await.unwrap(), None);
    assert_eq!(ledger.device(DEVICE).await.unwrap().unwrap().grants, Some(json!({ "network": true })));
}

async fn only_somebody_else_approves_and_only_what_they_saw(place: Place) {
    let ledger = place.open();
    let kept = proposed(&ledger, "a", Risk::Medium).await;
    assert_eq!(code(ledger.approve_script(&engineer(), verdict(&kept)).await), "approval.own");
    // The same subject from elsewhere is somebody else, for whoever asks and for whoever answers.
    let theirs = Caller::new(format!("jwt:{}", engineer().actor), "engineer");
    let of_jwt = ledger.propose_script(&theirs, "p-jwt", (DEVICE, None), draft("j", Risk::Medium)).await.unwrap();
    assert_eq!(code(ledger.approve_script(&theirs, verdict(&of_jwt)).await), "approval.own");
    assert!(ledger.approve_script(&engineer(), verdict(&of_jwt)).await.unwrap().unwrap().is_enough());
    let other = Verdict { digest: "0".repeat(64), ..verdict(&kept) };
    assert_eq!(code(ledger.approve_script(&approver("bea"), other).await), "approval.digest_mismatch");
    assert!(ledger.approved_script(DEVICE, &kept.digest).await.unwrap().is_none());
    assert!(ledger.approve_script(&approver("bea"), verdict(&kept)).await.unwrap().unwrap().is_enough());
    assert!(ledger.approved_script("d-2", &kept.digest).await.unwrap().is_none(), "for another device");
    let kept = proposed(&ledger, "b", Risk::Medium).await;
    assert!(ledger.reject_script(&approver("bea"), verdict(&kept)).await.unwrap().is_ok());
    assert_eq!(code(ledger.approve_script(&approver("cem"), verdict(&kept)).await), "proposal.closed");
    let expected = [
        "script.proposed",
        "approval.refused",
        "approval.refused",
        "script.approved",
        "script.proposed",
        "script.rejected",
        "approval.refused",
    ];
    assert_eq!(kinds(&ledger).await, expected);
}

async fn high_risk_needs_two_people(place: Place) {
    let ledger = place.open();
    let kept = proposed(&ledger, "a", Risk::High).await;
    for (name, enough) in [("bea", false), ("bea", false), ("cem", true)] {
        let standing = ledger.approve_script(&approver(name), verdict(&kept)).await.unwrap().unwrap();
        assert_eq!(standing.is_enough(), enough, "{name}");
    }
    let ready = ledger.approved_script(DEVICE, &kept.digest).await.unwrap().unwrap();
    assert_eq!(ready.approved_by, ["bea", "cem"]);
}

async fn an_edit_voids_what_was_approved_even_when_it_is_undone(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let ready = ledger.approved_script(DEVICE, &kept.digest).await.unwrap().unwrap();
    let edited = ledger.edit_script(&engineer(), "a", draft("echo other", Risk::Medium)).await.unwrap().unwrap();
    assert_ne!(edited.digest, kept.digest);
    assert_eq!(edited.previous.as_ref(), Some(&kept.proposal));
    assert_eq!(send(&ledger, &kept, ready, in_seconds(60)).await.unwrap_err().code, "script.not_approved");
    assert_eq!(code(ledger.approve_script(&approver("cem"), verdict(&kept)).await), "approval.digest_mismatch");
    let back = ledger.edit_script(&engineer(), "a", draft("echo a", Risk::Medium)).await.unwrap().unwrap();
    assert_eq!((back.digest.as_str(), back.version), (kept.digest.as_str(), 3));
    assert!(
        ledger.approved_script(DEVICE, &kept.digest).await.unwrap().is_none(),
        "the old yes was to the old version"
    );
    assert!(ledger.approvals(&back).await.unwrap().iter().all(|approval| approval.void));
    let stranger = Caller::new("uli", "engineer");
    assert_eq!(code(ledger.edit_script(&stranger, "a", draft("echo x", Risk::Low)).await), "proposal.not_yours");
}

async fn time_ends_what_waits(place: Place) {
    let ledger = place.open();
    let kept = proposed(&ledger, "a", Risk::Low).await;
    let late = Verdict { now: kept.expires_at, ..verdict(&kept) };
    assert_eq!(code(ledger.approve_script(&approver("bea"), late).await), "approval.expired");
    assert_eq!(ledger.script_proposal("a").await.unwrap().unwrap().state, ProposalState::Expired);
    assert_eq!(code(ledger.approve_script(&approver("bea"), verdict(&kept)).await), "approval.expired");
    let kept = approved(&ledger, "b").await;
    let ready = ledger.approved_script(DEVICE, &kept.digest).await.unwrap().unwrap();
    let run = send(&ledger, &kept, ready, in_seconds(-1)).await.unwrap();
    assert_eq!(claimed(&ledger, 1).await, None, "nobody fetched it in time");
    assert_eq!(ledger.package("pk-b").await.unwrap().unwrap().state, PackageState::Expired);
    let run = ledger.run(run.run_id).await.unwrap().unwrap();
    assert_eq!((run.status, run.error_json.unwrap().code.as_str()), (Status::Cancelled, "script.expired"));
}

async fn an_approval_sends_once(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let ready = ledger.approved_script(DEVICE, &kept.digest).await.unwrap().unwrap();
    assert!(send(&ledger, &kept, ready.clone(), in_seconds(60)).await.is_ok());
    assert_eq!(send(&ledger, &kept, ready, in_seconds(60)).await.unwrap_err().code, "proposal.closed");
    assert!(ledger.approved_script(DEVICE, &kept.digest).await.unwrap().is_none());
    assert_eq!(code(ledger.edit_script(&engineer(), "a", draft("echo x", Risk::Low)).await), "proposal.closed");
}

async fn what_its_device_does_not_have_yet_can_be_taken_back(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let run = sent(&ledger, &kept).await.unwrap();
    assert_eq!(code(ledger.withdraw_script(&approver("bea"), "a").await), "proposal.not_yours");
    let withdrawn = ledger.withdraw_script(&engineer(), "a").await.unwrap().unwrap();
    assert_eq!(withdrawn.state, ProposalState::Withdrawn);
    assert_eq!(claimed(&ledger, 1).await, None);
    assert_eq!(ledger.run(run.run_id).await.unwrap().unwrap().status, Status::Cancelled);
    let kept = approved(&ledger, "b").await;
    sent(&ledger, &kept).await.unwrap();
    assert!(claimed(&ledger, 1).await.is_some());
    assert_eq!(code(ledger.withdraw_script(&engineer(), "b").await), "proposal.closed");
}

async fn a_package_is_leased_and_ended_once(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let run = sent(&ledger, &kept).await.unwrap();
    // The lease of the first claim runs out at once.
    let now = Timestamp::now();
    assert!(ledger.claim_script(&device(), DEVICE, &token(1), (now, now)).await.unwrap().is_some());
    assert_eq!(claimed(&ledger, 2).await.as_deref(), Some("a"));
    assert_eq!(claimed(&ledger, 3).await, None, "leased");
    let end = |byte, device_id: &'static str, result| {
        let ledger = ledger.clone();
        async move { ledger.end_script(&device(), device_id, &token(byte), result).await }
    };
    assert_eq!(code(end(1, DEVICE, result(&kept, 0)).await), "claim.unknown", "another claim took its place");
    assert_eq!(code(end(2, "d-2", result(&kept, 0)).await), "claim.unknown", "another device's");
    let other = ScriptResult { digest: "0".repeat(64), ..result(&kept, 0) };
    assert_eq!(code(end(2, DEVICE, other).await), "claim.other_package");
    assert!(ledger.run(run.run_id).await.unwrap().is_none(), "not over yet");
    for (offset, text) in [(3, "def"), (0, "abc"), (0, "abc")] {
        let piece = LogPiece { rollback: false, offset, text: text.to_owned(), at: Timestamp::now() };
        assert!(ledger.log_script(&device(), DEVICE, &token(2), piece).await.unwrap().is_ok());
    }
    for _ in 0..2 {
        assert!(end(2, DEVICE, result(&kept, 3)).await.unwrap().is_ok(), "told again");
    }
    assert_eq!(code(end(2, DEVICE, result(&kept, 0)).await), "claim.used");
    let package = ledger.package_of("a").await.unwrap().unwrap();
    assert_eq!((package.state, package.claims, package.log.as_str()), (PackageState::Done, 2, "abcdef"));
    let run = ledger.run(run.run_id).await.unwrap().unwrap();
    assert_eq!((run.status, run.error_json.unwrap().code.as_str()), (Status::Failed, "script.exit"));
    assert_eq!(claimed(&ledger, 4).await, None);
}

async fn what_has_expired_is_not_fetched_again(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    sent(&ledger, &kept).await.unwrap();
    let now = Timestamp::now();
    for (byte, at, given) in [(1, now, true), (2, in_seconds(3500), true), (3, in_seconds(3601), false)] {
        // Each lease runs out at once.
        let claimed = ledger.claim_script(&device(), DEVICE, &token(byte), (at, at)).await.unwrap();
        assert_eq!(claimed.is_some(), given, "claim {byte}");
    }
    assert!(ledger.end_script(&device(), DEVICE, &token(2), result(&kept, 0)).await.unwrap().is_ok(), "the last claim");
}

async fn a_log_has_an_end(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    sent(&ledger, &kept).await.unwrap();
    claimed(&ledger, 1).await;
    let text = "x".repeat(6 << 20);
    for (part, rollback) in [false, false, true, false].into_iter().enumerate() {
        let offset = (part * text.len()) as i64;
        let piece = LogPiece { rollback, offset, text: text.clone(), at: Timestamp::now() };
        let said = ledger.log_script(&device(), DEVICE, &token(1), piece).await.unwrap();
        assert_eq!(said.err().map(|fault| fault.code), (part == 3).then(|| "log.too_large".to_owned()), "part {part}");
    }
    assert!(ledger.end_script(&device(), DEVICE, &token(1), result(&kept, 0)).await.unwrap().is_ok());
}

async fn a_log_is_taken_until_its_end_is_told_and_refusals_are_on_record(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    sent(&ledger, &kept).await.unwrap();
    claimed(&ledger, 1).await;
    let say = |byte, device_id: &'static str, rollback, text: &str| {
        let (ledger, text) = (ledger.clone(), text.to_owned());
        let piece = LogPiece { rollback, offset: 0, text, at: Timestamp::now() };
        async move { ledger.log_script(&device(), device_id, &token(byte), piece).await }
    };
    assert!(say(1, DEVICE, false, "said").await.unwrap().is_ok());
    assert_eq!(code(say(2, DEVICE, false, "x").await), "claim.unknown", "a token that nobody has");
    assert_eq!(code(say(1, "d-2", false, "x").await), "claim.unknown", "another device's");
    let undone = ScriptResult { rollback: true, ..result(&kept, 0) };
    for (end, rollback) in [(result(&kept, 0), false), (undone, true)] {
        assert!(say(1, DEVICE, rollback, "said").await.unwrap().is_ok());
        assert!(ledger.end_script(&device(), DEVICE, &token(1), end).await.unwrap().is_ok());
        assert!(say(1, DEVICE, rollback, "said").await.unwrap().is_ok(), "heard again");
        assert_eq!(code(say(1, DEVICE, rollback, "more").await), "claim.used");
    }
    let package = ledger.package("pk-a").await.unwrap().unwrap();
    assert_eq!((package.log.as_str(), package.undone_log.as_str()), ("said", "said"));
    let told = kinds(&ledger).await;
    assert_eq!(told.iter().filter(|kind| *kind == "script.log_refused").count(), 4, "{told:?}");
}

async fn all_that_waits_is_seen_page_by_page(place: Place) {
    let ledger = place.open();
    let most = 203;
    for number in 0..most {
        proposed(&ledger, &format!("p-{number:03}"), Risk::Medium).await;
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let page = ledger.waiting_scripts(&after).await.unwrap();
        let Some(last) = page.last() else { break };
        after.clone_from(&last.proposal_id);
        seen.extend(page.into_iter().map(|kept| kept.proposal_id));
    }
    assert_eq!(seen, (0..most).map(|number| format!("p-{number:03}")).collect::<Vec<_>>());
}

async fn a_rollback_is_a_run_of_its_own(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let run = sent(&ledger, &kept).await.unwrap();
    claimed(&ledger, 1).await;
    let undone = || ScriptResult { rollback: true, ..result(&kept, 0) };
    let (caller, token) = (device(), token(1));
    let end = |result| ledger.end_script(&caller, DEVICE, &token, result);
    assert_eq!(code(end(undone()).await), "claim.nothing_to_undo");
    assert!(end(result(&kept, 0)).await.unwrap().is_ok());
    assert!(end(undone()).await.unwrap().is_ok());
    let package = ledger.package_of("a").await.unwrap().unwrap();
    assert_eq!((package.result, package.undone), (Some(result(&kept, 0)), Some(undone())));
    assert_eq!(ledger.run(run.run_id).await.unwrap().unwrap().status, Status::Succeeded);
    let told = kinds(&ledger).await;
    assert_eq!(told.iter().filter(|kind| *kind == "run.recorded").count(), 2);
    assert_eq!(told.last().map(String::as_str), Some("script.undone"));
}

async fn what_waits_too_long_is_closed_by_the_house(place: Place) {
    let ledger = place.open();
    let waiting = proposed(&ledger, "p-1", Risk::Medium).await;
    let kept = approved(&ledger, "p-2").await;
    let run = sent(&ledger, &kept).await.unwrap();
    ledger.expire_scripts(Timestamp::now()).await.unwrap();
    let state = |id: &str| {
        let (ledger, id) = (&ledger, id.to_owned());
        async move { ledger.script_proposal(&id).await.unwrap().unwrap().state }
    };
    assert_eq!((state("p-1").await, state("p-2").await), (ProposalState::Waiting, ProposalState::Sent));
    ledger.expire_scripts(in_seconds(7200)).await.unwrap();
    assert_eq!(state("p-1").await, ProposalState::Expired);
    assert_eq!(code(ledger.approve_script(&approver("bea"), verdict(&waiting)).await), "approval.expired");
    let package = ledger.package_of("p-2").await.unwrap().unwrap();
    assert_eq!(package.state, PackageState::Expired);
    assert_eq!(ledger.run(run.run_id).await.unwrap().unwrap().status, Status::Cancelled);
    assert_eq!(claimed(&ledger, 1).await, None);
    let kinds = kinds(&ledger).await;
    assert!(
        kinds.contains(&"proposal.expired".to_owned()) && kinds.contains(&"script.expired".to_owned()),
        "{kinds:?}"
    );
}

async fn a_package_of_which_nothing_is_heard_is_closed_and_its_late_result_kept(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let run = sent(&ledger, &kept).await.unwrap();
    assert!(claimed(&ledger, 1).await.is_some());
    ledger.expire_scripts(in_seconds(3590)).await.unwrap();
    let package = ledger.package("pk-a").await.unwrap().unwrap();
    assert_eq!(package.state, PackageState::Claimed, "it can be fetched again");
    ledger.expire_scripts(in_seconds(3610)).await.unwrap();
    ledger.expire_scripts(in_seconds(3620)).await.unwrap();
    let package = ledger.package("pk-a").await.unwrap().unwrap();
    assert_eq!((package.state, package.result, package.run_id), (PackageState::Unheard, None, run.run_id));
    let closed = ledger.run(run.run_id).await.unwrap().unwrap();
    let fault = closed.error_json.unwrap();
    assert_eq!((closed.status, fault.code.as_str()), (Status::Failed, "script.unheard"));
    assert!(closed.assistant_message.starts_with("It may have run: "), "{}", closed.assistant_message);
    assert!(fault.message.contains(&format!("{:.0}", package.heard_at.unwrap())), "{}", fault.message);
    assert_eq!(claimed(&ledger, 2).await, None, "it may have run");
    assert_eq!(code(ledger.withdraw_script(&engineer(), "a").await), "proposal.closed");

    for _ in 0..2 {
        let piece = LogPiece { rollback: false, offset: 0, text: "late".to_owned(), at: in_seconds(9000) };
        assert!(ledger.log_script(&device(), DEVICE, &token(1), piece).await.unwrap().is_ok());
        assert!(ledger.end_script(&device(), DEVICE, &token(1), result(&kept, 0)).await.unwrap().is_ok());
    }
    let package = ledger.package("pk-a").await.unwrap().unwrap();
    assert_eq!(
        (package.state, package.result, package.log.as_str()),
        (PackageState::Done, Some(result(&kept, 0)), "late")
    );
    assert_ne!(package.run_id, run.run_id, "what was said of it before stays on record");
    assert_eq!(ledger.run(package.run_id).await.unwrap().unwrap().status, Status::Succeeded);
    ledger.expire_scripts(in_seconds(9000)).await.unwrap();
    let told = kinds(&ledger).await;
    let count = |kind: &str| told.iter().filter(|told| *told == kind).count();
    assert_eq!((count("script.unheard"), count("script.ended"), count("run.recorded")), (1, 1, 2), "{told:?}");
}

/// Its lease and its own time are over, but its device may be at work on it.
async fn a_package_is_not_closed_while_it_may_run(place: Place) {
    let ledger = place.open();
    let kept = approved(&ledger, "a").await;
    let ready = ledger.approved_script(DEVICE, &kept.digest).await.unwrap().unwrap();
    send(&ledger, &kept, ready, in_seconds(5)).await.unwrap();
    let now = Timestamp::now();
    assert!(ledger.claim_script(&device(), DEVICE, &token(1), (now, now)).await.unwrap().is_some());
    let longest = i64::try_from(kept.proposal.manifest.timeout_seconds.0).unwrap() + 600;
    let piece = LogPiece { rollback: false, offset: 0, text: "at work".to_owned(), at: in_seconds(100) };
    for (after, state) in [(longest - 10, PackageState::Claimed), (longest + 10, PackageState::Claimed)] {
        // The second time it has said something since.
        ledger.expire_scripts(in_seconds(after)).await.unwrap();
        assert_eq!(ledger.package("pk-a").await.unwrap().unwrap().state, state, "{after}");
        assert!(ledger.log_script(&device(), DEVICE, &token(1), piece.clone()).await.unwrap().is_ok());
    }
    ledger.expire_scripts(in_seconds(100 + longest + 10)).await.unwrap();
    assert_eq!(ledger.package("pk-a").await.unwrap().unwrap().state, PackageState::Unheard);
}

async fn a_device_that_enrols_anew_is_not_given_what_it_had_before(place: Place) {
    let ledger = place.open();
    let enrol = || async {
        let code = ledger.expect_device(&Caller::new("root", "admin"), DEVICE, "pump", in_seconds(60)).await.unwrap();
        let (sandbox_tier, version) = ("T1".to_owned(), "1".to_owned());
        let enrolment = Enrolment { grants: json!({}), sandbox_tier, cells: None, version, now: Timestamp::now() };
        ledger.enrol_device(code.expose(), enrolment).await.unwrap().unwrap();
    };
    enrol().await;
    let kept = approved(&ledger, "a").await;
    sent(&ledger, &kept).await.unwrap();
    sent(&ledger, &approved(&ledger, "b").await).await.unwrap();
    let now = Timestamp::now();
    let first = ledger.claim_script(&device(), DEVICE, &token(1), (now, now)).await.unwrap();
    assert_eq!(first.unwrap().payload, "a");
    enrol().await;
    assert_eq!(ledger.package("pk-a").await.unwrap().unwrap().state, PackageState::Unheard);
    assert_eq!(claimed(&ledger, 2).await.as_deref(), Some("b"), "what nobody has fetched is there still");
    assert!(ledger.end_script(&device(), DEVICE, &token(1), result(&kept, 0)).await.unwrap().is_ok());
    assert_eq!(ledger.package("pk-a").await.unwrap().unwrap().state, PackageState::Done);
}

/// The word that it was queued was lost on its way: its run is on record as failed, and the package is there.
async fn a_run_that_was_taken_for_failed_is_closed_all_the_same(place: Place) {
    let ledger = place.open();
    for id in ["ended", "withdrawn", "expired"] {
        let kept = approved(&ledger, id).await;
        let run = sent(&ledger, &kept).await.unwrap();
        ledger.record(&Run { status: Status::Failed, ..run.clone() }).await.unwrap();
        match id {
            "ended" => {
                claimed(&ledger, 1).await;
                assert!(ledger.end_script(&device(), DEVICE, &token(1), result(&kept, 0)).await.unwrap().is_ok());
                let package = ledger.package_of(id).await.unwrap().unwrap();
                assert_eq!(ledger.run(package.run_id).await.unwrap().unwrap().status, Status::Succeeded);
            }
            "withdrawn" => assert!(ledger.withdraw_script(&engineer(), id).await.unwrap().is_ok()),
            _ => ledger.expire_scripts(in_seconds(7200)).await.unwrap(),
        }
        assert_eq!(ledger.run(run.run_id).await.unwrap().unwrap().status, Status::Failed, "{id}");
    }
    assert_eq!(kinds(&ledger).await.iter().filter(|kind| *kind == "run.recorded").count(), 6);
}
