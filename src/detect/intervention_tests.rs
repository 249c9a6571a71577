use super::story::Story;
use serde_json::json;

#[test]
fn compactions_with_nothing_new_between_are_told_and_a_person_may_compact_as_they_like() {
    let mut story = Story::new();
    story.bash("cat a", "text").lifecycle("compaction_end").bash("cat a", "text").lifecycle("compaction_end");
    assert_eq!(story.first("intervention:compaction_loop"), Some(2));
    let mut story = Story::new();
    story.times(5, |story, n| {
        story.lifecycle("compaction_end").bash(&format!("cat f{n}"), &format!("text {n}"));
    });
    story.is_silent();
    let mut story = Story::new();
    story.times(5, |story, _| {
        story.lifecycle_with("compaction_end", r#"{"reason":"manual"}"#);
    });
    story.is_silent();
}

#[test]
fn outages_are_told_as_such_and_never_as_a_loop() {
    let mut story = Story::new();
    story.times(6, |story, _| {
        story.fails("web_fetch", json!({ "url": "https://x" }), "HTTP 503 Service Unavailable");
    });
    let rules: Vec<&str> = story.found.iter().map(|(_, rule, _)| *rule).collect();
    assert_eq!(rules, ["intervention:provider_failure"; 2], "at the third and at the sixth");
    let mut story = Story::new();
    story.times(5, |story, _| {
        story.lifecycle("auto_retry_start");
    });
    assert_eq!(story.first("intervention:provider_failure"), Some(0));
}

#[test]
fn a_run_that_ends_with_nothing_is_told() {
    let mut story = Story::new();
    story.bash("make", "ok").says("").lifecycle("agent_end");
    assert_eq!(story.first("intervention:empty_result"), Some(2));
    let mut story = Story::new();
    story.says("I have created both agents and verified them.").lifecycle("agent_end");
    assert_eq!(story.first("intervention:empty_result"), Some(1));
    let mut story = Story::new();
    story.bash("make", "ok").says("I have built it.").lifecycle("agent_end");
    story.is_silent();
}

#[test]
fn ten_polls_with_the_same_answer_get_a_remark() {
    let mut story = Story::new();
    story.times(10, |story, _| {
        story.bash("gh run view 5", "in progress");
    });
    assert_eq!(story.first("intervention:polling"), Some(10));
    assert_eq!(story.found.len(), 1);
}
