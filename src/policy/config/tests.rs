use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys::{self, KEYS};
use super::{AlertMode, CircuitBreaker, Config, Layer, Origin, Resolved, Source, schema};
use crate::setting::{Key, Scope, Shape};

fn layer(source: Source, text: &str) -> Layer {
    Layer { source, name: format!("{source:?}.json"), text: text.to_owned() }
}

fn resolve(layers: &[(Source, &str)]) -> Resolved {
    Config::resolve(&layers.iter().map(|(source, text)| layer(*source, text)).collect::<Vec<_>>())
}

fn messages(resolved: &Resolved) -> Vec<&str> {
    resolved.warnings.iter().map(|warning| warning.message.as_str()).collect()
}

#[test]
fn no_layer_gives_the_defaults() {
    let nothing = resolve(&[]);
    assert_eq!((nothing.config, nothing.warnings), (Config::default(), vec![]));
    assert!(nothing.sources.values().all(|origin| *origin == Origin::Default));
    assert_eq!(resolve(&[(Source::Global, "{}")]).config, Config::default());
}

#[test]
fn every_field_is_a_key_and_every_default_passes_its_own_check() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let mut fields: Vec<_> = defaults.as_object().unwrap().keys().map(String::as_str).collect();
    let mut keys: Vec<_> = KEYS.iter().map(|key| key.name).collect();
    fields.sort_unstable();
    keys.sort_unstable();
    assert_eq!(fields, keys);
    let all: serde_json::Map<_, _> = KEYS.iter().map(|key| (key.name.to_owned(), key.default())).collect();
    let resolved = resolve(&[(Source::Global, &Value::Object(all).to_string())]);
    assert_eq!((resolved.config, resolved.warnings), (Config::default(), vec![]));
    assert!(resolved.sources.values().all(|origin| *origin == Origin::Layer(Source::Global)));
}

#[test]
fn later_layers_win_key_by_key() {
    let resolved = resolve(&[
        (Source::Global, r#"{"repeatThreshold": 5, "cooldownSec": 10}"#),
        (Source::Project, r#"{"repeatThreshold": 7, "rescueMessage": "Halt."}"#),
        (Source::Command, r#"{"repeatThreshold": 9}"#),
    ]);
    assert_eq!(resolved.warnings, []);
    let expected =
        Config::of(json!({ "repeatThreshold": 9, "cooldownSec": 10.0, "rescueMessage": "Halt.".to_owned() }));
    assert_eq!(resolved.config, expected);
}

#[test]
fn each_value_names_the_layer_that_it_comes_from() {
    let resolved = resolve(&[
        (Source::Global, r#"{"repeatThreshold": 5, "cooldownSec": 10}"#),
        (Source::Project, r#"{"rescueMessage": "Halt.", "historyMaxDays": 1}"#),
        (Source::Command, r#"{"repeatThreshold": 9}"#),
        (Source::Model, r#"{"debug": true, "cooldownSec": "x"}"#),
    ]);
    for (key, expected) in [
        ("cooldownSec", json!("global")),
        ("rescueMessage", json!("project")),
        ("repeatThreshold", json!("command")),
        ("debug", json!("model")),
        ("historyMaxDays", json!("default")),
    ] {
        assert_eq!(json!(resolved.sources[key]), expected, "{key}");
    }
}

#[test]
fn a_command_to_run_is_a_list_of_texts_that_begins_with_a_program() {
    for (value, good) in [
        (json!(["notify-send", "Pi"]), true),
        (json!([]), true),
        (json!(["x", ""]), true),
        (json!([""]), false),
        (json!(["x", 1]), false),
        (json!("notify-send"), false),
        (json!(["a\u{0}b"]), false),
        (json!(vec!["x"; 101]), false),
    ] {
        let resolved = resolve(&[(Source::Global, &json!({ "notifyCommand": value }).to_string())]);
        assert_eq!(resolved.warnings.is_empty(), good, "{value}");
        let kept = if good { value } else { json!([]) };
        assert_eq!(json!(resolved.config.general.notify_command), kept);
    }
}

#[test]
fn of_thousands_of_unknown_keys_a_few_are_named_and_known_ones_are_not_lost_among_them() {
    let mut object: serde_json::Map<_, _> = (0..10_000).map(|n| (format!("k{n}"), json!(n))).collect();
    object.insert("zzz".to_owned(), json!(1));
    object.insert("repeatThreshold".to_owned(), json!("x"));
    object.insert("cooldownSec".to_owned(), json!(5));
    let resolved = resolve(&[(Source::Global, &Value::Object(object).to_string())]);
    let messages = messages(&resolved);
    assert_eq!(messages.len(), 12);
    assert!(messages.iter().any(|message| message.contains("repeatThreshold")), "{messages:?}");
    assert_eq!(messages.last(), Some(&"Global.json: 9991 more unknown keys"));
    assert!((resolved.config.general.cooldown_sec - 5.0).abs() < f64::EPSILON);
}

#[test]
fn wrong_values_leave_the_layer_below_standing() {
    let resolved = resolve(&[
        (Source::Global, r#"{"repeatThreshold": 5, "alertMode": "both"}"#),
        (Source::Command, r#"{"repeatThreshold": "7", "alertMode": "loud", "debug": 1, "rescueMessage": " "}"#),
    ]);
    assert_eq!(resolved.config.rules.repeat.repeat_threshold, 5);
    assert_eq!(resolved.config.general.alert_mode, AlertMode::Both);
    assert_eq!(
        messages(&resolved),
        [
            r#"Command.json: alertMode = "loud" must be one of main_only, direct_subagent, both; "both" stays"#,
            "Command.json: debug = 1 must be true or false; false stays",
            r#"Command.json: repeatThreshold = "7" must be a whole number; 5 stays"#,
            r#"Command.json: rescueMessage = " " must be a text that is not empty; "The AI agent might be stuck. Stop repeating the current ac… stays"#,
        ]
    );
    assert_eq!(resolved.warnings[0].key.as_deref(), Some("alertMode"));
}

#[test]
fn numbers_are_clamped_with_one_warning_each() {
    let resolved = resolve(&[(
        Source::Global,
        r#"{"repeatThreshold": -3, "maxEventsPerAgent": 1e9, "idleNoProgressSec": -1, "cooldownSec": -1e300, "maxPreviewLines": 2.5}"#,
    )]);
    assert_eq!(resolved.config.rules.repeat.repeat_threshold, 0);
    assert_eq!(resolved.config.general.max_events_per_agent, 100_000);
    assert!(resolved.config.rules.idle.idle_no_progress_sec.abs() < f64::EPSILON);
    assert!(resolved.config.general.cooldown_sec < 0.0 && resolved.config.general.cooldown_sec.is_finite());
    assert_eq!(resolved.config.general.max_preview_lines, 20);
    assert_eq!(resolved.warnings.len(), 5);
    assert!(messages(&resolved).contains(&"Global.json: repeatThreshold = -3 is not between 0 and 1000; 0 is used"));
    assert!(messages(&resolved).contains(&"Global.json: maxPreviewLines = 2.5 must be a whole number; 20 stays"));
}

#[test]
fn numbers_may_be_written_as_they_like() {
    let resolved =
        resolve(&[(Source::Global, r#"{"repeatThreshold": 4.0, "cooldownSec": 0.5, "maxPreviewLines": 1e1}"#)]);
    assert_eq!(resolved.warnings, []);
    assert_eq!((resolved.config.rules.repeat.repeat_threshold, resolved.config.general.max_preview_lines), (4, 10));
}

#[test]
fn unknown_keys_are_named_with_the_nearest_known_one() {
    let resolved =
        resolve(&[(Source::Global, r#"{"$schema": "x", "repeatTreshold": 4, "cooldown_sec": 1, "colour": "red"}"#)]);
    assert_eq!(resolved.config, Config::default());
    assert_eq!(
        messages(&resolved),
        [
            r#"Global.json: unknown key colour = "red""#,
            "Global.json: unknown key cooldown_sec = 1; did you mean cooldownSec?",
            "Global.json: unknown key repeatTreshold = 4; did you mean repeatThreshold?",
        ]
    );
}

#[test]
fn broken_text_is_one_warning_with_its_place() {
    let resolved = resolve(&[(Source::Global, "{\n  \"debug\": ,\n}"), (Source::Project, r#"{"debug": true}"#)]);
    assert!(resolved.config.general.debug);
    let [message] = messages(&resolved)[..] else { panic!("{resolved:?}") };
    assert!(message.starts_with("Global.json: is not valid JSON (line 2, column 12: "), "{message}");
    for (text, kind) in
        [("[]", "an array"), ("3", "a number"), ("null", "null"), ("\"x\"", "a string"), ("true", "a boolean")]
    {
        let resolved = resolve(&[(Source::Global, text)]);
        assert_eq!(
            messages(&resolved),
            [format!("Global.json: must be a JSON object, not {kind}; nothing of it is used")]
        );
    }
    assert_eq!(resolve(&[(Source::Global, "")]).warnings.len(), 1);
    assert_eq!(resolve(&[(Source::Global, r#"{"cooldownSec": 1e999}"#)]).warnings.len(), 1);
}

#[test]
fn a_byte_order_mark_is_tolerated() {
    let resolved = resolve(&[(Source::Global, "\u{feff}{\"debug\": true}")]);
    assert_eq!(resolved.warnings, []);
    assert!(resolved.config.general.debug);
}

const POWERS: &str = r#"{"alertMode": "both", "steerDryRunDefault": false, "circuitBreaker": "stop"}"#;

fn powers(config: &Config) -> (AlertMode, Option<bool>, CircuitBreaker) {
    (config.general.alert_mode, config.general.steer_dry_run_default, config.general.circuit_breaker)
}

const ARMED: (AlertMode, Option<bool>, CircuitBreaker) = (AlertMode::Both, Some(false), CircuitBreaker::Stop);
const DISARMED: (AlertMode, Option<bool>, CircuitBreaker) = (AlertMode::MainOnly, None, CircuitBreaker::Off);

#[test]
fn the_user_may_raise_powers() {
    for source in [Source::Global, Source::Command] {
        let resolved = resolve(&[(source, POWERS)]);
        assert_eq!((powers(&resolved.config), resolved.warnings.len()), (ARMED, 0), "{source:?}");
    }
}

#[test]
fn a_project_may_raise_powers_only_where_the_global_file_allows_it() {
    let grant = r#"{"allowProjectPowers": true}"#;
    let alone = resolve(&[(Source::Project, POWERS)]);
    assert_eq!((powers(&alone.config), alone.warnings.len()), (DISARMED, 3));
    assert!(messages(&alone)[0].contains("is ignored"));

    let granted = resolve(&[(Source::Global, grant), (Source::Project, POWERS)]);
    assert_eq!((powers(&granted.config), granted.warnings.len()), (ARMED, 0));

    for other in [Source::Project, Source::Model] {
        let own = resolve(&[(other, grant), (Source::Project, POWERS)]);
        assert_eq!(
            (powers(&own.config), own.warnings.len(), own.config.general.allow_project_powers),
            (DISARMED, 4, false)
        );
    }
}

#[test]
fn a_project_may_lower_powers_but_not_the_users_grant() {
    let low = r#"{"alertMode": "main_only", "steerDryRunDefault": true, "circuitBreaker": "off"}"#;
    let resolved = resolve(&[(Source::Global, POWERS), (Source::Project, low)]);
    assert_eq!(powers(&resolved.config), (AlertMode::MainOnly, Some(true), CircuitBreaker::Off));
    assert_eq!(resolved.warnings, []);
    let resolved = resolve(&[(Source::Project, r#"{"allowProjectPowers": false}"#)]);
    assert_eq!(resolved.warnings.len(), 1);
}

#[test]
fn a_model_may_lower_powers_and_never_raise_them() {
    let raised = resolve(&[(Source::Global, r#"{"allowProjectPowers": true}"#), (Source::Model, POWERS)]);
    assert_eq!((powers(&raised.config), raised.warnings.len()), (DISARMED, 3));
    let step = resolve(&[
        (Source::Global, r#"{"circuitBreaker": "block"}"#),
        (Source::Model, r#"{"circuitBreaker": "stop"}"#),
    ]);
    assert_eq!(step.config.general.circuit_breaker, CircuitBreaker::Block);
    let lowered = resolve(&[
        (Source::Global, POWERS),
        (Source::Model, r#"{"circuitBreaker": "block", "alertMode": "main_only", "steerDryRunDefault": null}"#),
    ]);
    assert_eq!(powers(&lowered.config), (AlertMode::MainOnly, None, CircuitBreaker::Block));
    assert_eq!(lowered.warnings, []);
    // What a model gave up, only the user gives back.
    let back = resolve(&[
        (Source::Global, POWERS),
        (Source::Model, r#"{"circuitBreaker": "off"}"#),
        (Source::Model, r#"{"circuitBreaker": "block"}"#),
    ]);
    assert_eq!(back.config.general.circuit_breaker, CircuitBreaker::Off);
}

#[test]
fn a_project_may_leave_on_what_is_on_and_switch_it_off_but_not_on() {
    for (user, project, effective, warned) in [
        (true, true, true, false),
        (true, false, false, false),
        (false, true, false, true),
        (false, false, false, false),
    ] {
        let text = |on: bool| json!({ "wakeOnCritical": on }).to_string();
        let resolved = resolve(&[(Source::Global, &text(user)), (Source::Project, &text(project))]);
        assert_eq!(resolved.config.general.wake_on_critical, effective, "{user} {project}");
        assert_eq!(!resolved.warnings.is_empty(), warned, "{user} {project}");
    }
}

#[test]
fn a_sub_agents_model_is_told_why_it_may_not_set_a_key() {
    for (key, why) in [
        (r#"{"cooldownSec": 1}"#, "only tune limits of its own session"),
        (r#"{"rescueMessage": "x"}"#, "/watchdog set rescueMessage in the main session"),
    ] {
        let resolved = resolve(&[(Source::Child, key)]);
        assert!(messages(&resolved)[0].contains(why), "{:?}", messages(&resolved));
    }
    let armed = resolve(&[(Source::Global, r#"{"autoKill": true}"#), (Source::Child, r#"{"repeatThreshold": 9}"#)]);
    assert!(messages(&armed)[0].contains("what autoKill acts on"), "{:?}", messages(&armed));
}

#[test]
fn a_long_rescue_message_is_cut_and_said_so() {
    let text = json!({ "rescueMessage": "é".repeat(2500) }).to_string();
    let resolved = resolve(&[(Source::Model, &text)]);
    assert_eq!(resolved.config.general.rescue_message.chars().count(), super::RESCUE_MESSAGE_MAX_CHARS);
    assert_eq!(resolved.warnings.len(), 1);
    assert!(resolved.warnings[0].message.chars().count() < 300);
}

#[test]
fn nothing_from_a_file_reaches_the_terminal_raw() {
    let text = json!({ "\u{1b}[31mevil\u{202e}": "\u{1b}]0;x\u{7}\u{2028}y" }).to_string();
    let resolved = resolve(&[(Source::Project, &text)]);
    assert_eq!(resolved.warnings.len(), 1);
    let warning = &resolved.warnings[0];
    for shown in [&warning.message, warning.key.as_ref().unwrap()] {
        assert!(!shown.chars().any(|c| c.is_control() || matches!(c, '\u{202e}' | '\u{2028}')), "{shown:?}");
    }
}

#[test]
fn library_callers_may_give_parts_and_nonsense() {
    assert_eq!(Config::from_partial_json(r#"{"repeatThreshold": 4}"#), Config::of(json!({ "repeatThreshold": 4 })));
    assert_eq!(
        Config::from_partial_json(r#"{"circuitBreaker": "stop"}"#).general.circuit_breaker,
        CircuitBreaker::Stop
    );
    for nonsense in ["", "null", "[1]", "{", r#"{"cooldownSec": null, "x": 1}"#] {
        assert_eq!(Config::from_partial_json(nonsense), Config::default());
    }
}

#[test]
fn the_example_needs_no_warning() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/watchdog-supervisor.json");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(resolve(&[(Source::Project, &text)]).warnings, []);
}

#[test]
fn the_schema_accepts_what_the_check_accepts() {
    let schema = schema();
    for key in KEYS.iter() {
        let property = &schema["properties"][key.name];
        assert_eq!(property["default"], key.default(), "{}", key.name);
        match &key.shape {
            Shape::OneOf(names) => assert_eq!(property["enum"], json!(names)),
            _ => assert!(property["type"].is_string() || property["type"].is_array()),
        }
    }
    assert_eq!(schema["additionalProperties"], json!(false));
}

fn any_json() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec!["off", "block", "stop", "both", "main_only"]).prop_map(Value::from),
        Just(json!([1])),
        Just(json!({ "a": 1 })),
    ]
}

/// Values that a key takes, near its edges and within, and some that it does not.
fn value_for(key: &'static Key) -> BoxedStrategy<Value> {
    let good = match &key.shape {
        Shape::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Shape::BoolOrNull => prop::option::of(any::<bool>()).prop_map(|value| json!(value)).boxed(),
        Shape::OneOf(names) => prop::sample::select(*names).prop_map(Value::from).boxed(),
        Shape::Text(_) | Shape::OptionalText(_) => "[a-z ]{0,8}".prop_map(Value::from).boxed(),
        Shape::Texts { .. } => prop::collection::vec("[a-z]{1,4}", 0..3).prop_map(|words| json!(words)).boxed(),
        Shape::Integer { .. } => (-2i64..12).prop_map(Value::from).boxed(),
        Shape::Usd { .. } | Shape::Seconds { .. } => (-2i64..900).prop_map(Value::from).boxed(),
    };
    prop_oneof![8 => good, 1 => any_json()].boxed()
}

/// The text of a layer with a few random keys.
fn any_layer() -> impl Strategy<Value = String> {
    let pair = (0..KEYS.len()).prop_flat_map(|index| {
        let key = KEYS[index];
        value_for(key).prop_map(|value| (key.name.to_owned(), value))
    });
    prop::collection::vec(pair, 0..24).prop_map(|pairs| Value::Object(pairs.into_iter().collect()).to_string())
}

/// The global file: most of them arm some power, some grant powers to projects.
fn any_user_layer() -> impl Strategy<Value = String> {
    let arms = prop::sample::select(vec![
        json!({}),
        json!({ "autoKill": true }),
        json!({ "circuitBreaker": "stop" }),
        json!({ "alertMode": "both" }),
        json!({ "steerDryRunDefault": false }),
        json!({ "notifyCommand": ["x"] }),
    ]);
    (any_layer(), arms, prop::bool::weighted(0.1)).prop_map(|(text, arms, granted)| {
        let mut object: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        object.extend(arms.as_object().unwrap().clone());
        object.insert("allowProjectPowers".to_owned(), json!(granted));
        Value::Object(object).to_string()
    })
}

proptest! {
    #[test]
    fn no_project_file_makes_a_power_act_sooner_or_touches_what_is_the_users(
        user in any_user_layer(), project in any_layer(), command in any_layer(), model in any_layer()
    ) {
        let (user, project) = ((Source::Global, user.as_str()), (Source::Project, project.as_str()));
        let (command, model) = ((Source::Command, command.as_str()), (Source::Model, model.as_str()));
        let without = resolve(&[user, command, model]);
        let with = resolve(&[user, project, command, model]);
        let granted = without.config.general.allow_project_powers;
        let (before, after) = (json!(without.config), json!(with.config));
        let armed = |name: &str| keys::find(name).is_some_and(|key| key.power(&after[key.name]) > 0);
        for key in KEYS.iter() {
            let (before, after) = (&before[key.name], &after[key.name]);
            match key.scope {
                Scope::Project => {}
                Scope::User | Scope::UserPower(_) | Scope::GlobalFile => prop_assert_eq!(before, after, "{}", key.name),
                Scope::OffOnly => prop_assert!(*before == json!(true) || *after == json!(false), "{}", key.name),
                Scope::Power(power) => prop_assert!(granted || power(after) <= power(before), "{}", key.name),
                Scope::Limit { powers, laxness, .. } => {
                    let free = granted || !powers.iter().any(|power| armed(power));
                    prop_assert!(free || laxness(after) >= laxness(before), "{}: {before} to {after}", key.name);
                }
            }
        }
    }

    #[test]
    fn a_sub_agent_sets_no_more_than_limits_on_which_no_power_acts(user in any_user_layer(), child in any_layer()) {
        let before = resolve(&[(Source::Global, &user)]);
        let after = resolve(&[(Source::Global, &user), (Source::Child, &child)]);
        for key in KEYS.iter() {
            if after.sources[key.name] != Origin::Layer(Source::Child) {
                prop_assert_eq!(&json!(before.config)[key.name], &json!(after.config)[key.name]);
                continue;
            }
            let Scope::Limit { own: true, powers, .. } = key.scope else { panic!("{}", key.name) };
            let on = |name: &&str| keys::find(name).is_some_and(|key| key.power(&json!(before.config)[key.name]) > 0);
            prop_assert!(!powers.iter().any(on), "{}", key.name);
        }
    }
}

#[test]
fn every_limit_says_in_which_direction_it_is_laxer() {
    for key in KEYS.iter() {
        let Scope::Limit { powers, laxness, .. } = key.scope else { continue };
        assert!(!powers.is_empty() && powers.iter().all(|name| keys::find(name).is_some_and(Key::is_power)));
        let order: &[Value] = match (&key.shape, key.name) {
            (Shape::Bool, _) => &[json!(true), json!(false)],
            (_, "cooldownSec") => &[json!(0), json!(1), json!(60), json!(-1)],
            _ => &[json!(1), json!(2), json!(100), json!(0)],
        };
        assert!(order.is_sorted_by(|left, right| laxness(left) < laxness(right)), "{}", key.name);
    }
}

#[test]
fn a_power_that_a_command_arms_later_does_not_act_on_the_projects_limits() {
    let project = (Source::Project, r#"{"autoKillAfterSec": 1, "repeatThreshold": 6, "idleTimeoutSec": 1}"#);
    assert!((resolve(&[project]).config.tree.clock.auto_kill_after_sec - 1.0).abs() < f64::EPSILON);
    let armed = resolve(&[project, (Source::Command, r#"{"autoKill": true}"#)]);
    assert!((armed.config.tree.clock.auto_kill_after_sec - 600.0).abs() < f64::EPSILON);
    assert_eq!((armed.config.rules.repeat.repeat_threshold, armed.warnings.len()), (6, 2));
    assert_eq!(
        messages(&armed)[0],
        "Project.json: autoKillAfterSec = 1 is ignored: while autoKill is on, a project file may only make it laxer than 600; 600 stays"
    );
}

#[test]
fn a_project_that_switches_the_watchdog_off_is_named_while_it_holds() {
    let project = (Source::Project, r#"{"enabled": false}"#);
    let off = resolve(&[project]);
    assert!(!off.config.general.enabled);
    assert_eq!(
        messages(&off),
        [
            "Project.json: enabled = false switches the watchdog off in this project; /watchdog set enabled true switches it on for this run"
        ]
    );
    assert_eq!(resolve(&[project, (Source::Command, r#"{"enabled": true}"#)]).warnings, []);
    assert_eq!(resolve(&[(Source::Global, r#"{"enabled": false}"#)]).warnings, []);
}

proptest! {
    #[test]
    fn any_values_give_a_configuration_within_its_ranges(
        values in prop::collection::vec((prop::sample::select(KEYS.iter().map(|key| key.name).collect::<Vec<_>>()), any_json()), 0..8)
    ) {
        let object: serde_json::Map<_, _> = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let count = object.len();
        let resolved = resolve(&[(Source::Model, &Value::Object(object).to_string())]);
        prop_assert!(resolved.warnings.len() <= count);
        prop_assert_eq!(powers(&resolved.config), (AlertMode::MainOnly, resolved.config.general.steer_dry_run_default, CircuitBreaker::Off));
        prop_assert!(resolved.config.general.steer_dry_run_default != Some(false));
        // What came out is valid itself.
        let again = serde_json::to_string(&resolved.config).unwrap();
        let again = resolve(&[(Source::Global, &again)]);
        prop_assert_eq!(again.warnings, vec![]);
        // Reading a decimal may be off by the last bit, which no second and no dollar is.
        let seconds = |config: &Config| {
            let mut value = json!(config);
            for (name, value) in value.as_object_mut().unwrap() {
                if name.ends_with("Sec") || name.ends_with("Usd") {
                    *value = Value::Null;
                }
            }
            value
        };
        prop_assert_eq!(seconds(&again.config), seconds(&resolved.config));
    }

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        prop_assert_eq!(resolve(&[(Source::Project, &text)]).config, Config::default());
    }
}
