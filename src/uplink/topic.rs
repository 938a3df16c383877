//! The topics of a table, and which topics an answer may go to. PURE.

/// A client that may only ask must not make the gateway publish elsewhere, nor blow up every packet: 200 bytes hold any
/// sensible inbox under a prefix.
pub const MAX_RESPONSE_TOPIC: usize = 200;

/// Every topic of one table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Topics {
    /// Every journalled event, in order.
    pub events: String,
    /// Retained `TableState`.
    pub state: String,
    /// Retained `Status`, and the last will.
    pub status: String,
    /// Where the floor asks.
    pub requests: String,
    /// What a response topic may begin with.
    responses: Vec<String>,
}

/// Why a response topic is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ResponseTopicError {
    /// Over [`MAX_RESPONSE_TOPIC`] bytes.
    #[error("a response topic has at most {MAX_RESPONSE_TOPIC} bytes")]
    TooLong,
    /// `+`, `#` or a control character.
    #[error("a response topic has no wildcards and no control characters")]
    Wildcard,
    /// Not under `{prefix}/responses/` or a configured prefix.
    #[error("a response topic begins with the table's prefix and /responses/")]
    Elsewhere,
}

impl Topics {
    /// `prefix` without a slash at its end; `response_prefixes` are allowed for answers beside `{prefix}/responses/`.
    #[must_use]
    pub fn new(prefix: &str, response_prefixes: &[String]) -> Self {
        let mut responses = vec![format!("{prefix}/responses/")];
        responses.extend(response_prefixes.iter().cloned());
        Topics {
            events: format!("{prefix}/events"),
            state: format!("{prefix}/state"),
            status: format!("{prefix}/status"),
            requests: format!("{prefix}/requests"),
            responses,
        }
    }

    /// An answer may go to `topic`.
    ///
    /// # Errors
    ///
    /// When it is too long, has wildcards, or lies outside the allowed prefixes.
    pub fn check_response(&self, topic: &str) -> Result<(), ResponseTopicError> {
        if topic.len() > MAX_RESPONSE_TOPIC {
            return Err(ResponseTopicError::TooLong);
        }
        if topic.contains(['+', '#']) || topic.chars().any(char::is_control) {
            return Err(ResponseTopicError::Wildcard);
        }
        let is_under = |prefix: &String| topic.len() > prefix.len() && topic.starts_with(prefix.as_str());
        if self.responses.iter().any(is_under) {
            Ok(())
        } else {
            Err(ResponseTopicError::Elsewhere)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_lie_under_the_prefix() {
        let topics = Topics::new("tablegate/v1/harbour/TS-07", &[]);
        assert_eq!(topics.events, "tablegate/v1/harbour/TS-07/events");
        assert_eq!(topics.state, "tablegate/v1/harbour/TS-07/state");
        assert_eq!(topics.status, "tablegate/v1/harbour/TS-07/status");
        assert_eq!(topics.requests, "tablegate/v1/harbour/TS-07/requests");
    }

    #[test]
    fn answers_go_only_where_they_may() {
        let topics = Topics::new("p/t", &["inbox/floor/".to_owned()]);
        let long = format!("p/t/responses/{}", "x".repeat(200));
        for (topic, expected) in [
            ("p/t/responses/a", Ok(())),
            ("p/t/responses/a/b", Ok(())),
            ("inbox/floor/7", Ok(())),
            ("p/t/responses/", Err(ResponseTopicError::Elsewhere)),
            ("p/t/responses", Err(ResponseTopicError::Elsewhere)),
            ("p/t/responsesx/a", Err(ResponseTopicError::Elsewhere)),
            ("p/t/status", Err(ResponseTopicError::Elsewhere)),
            ("p/t2/responses/a", Err(ResponseTopicError::Elsewhere)),
            ("inbox/floor", Err(ResponseTopicError::Elsewhere)),
            ("", Err(ResponseTopicError::Elsewhere)),
            ("p/t/responses/+", Err(ResponseTopicError::Wildcard)),
            ("p/t/responses/#", Err(ResponseTopicError::Wildcard)),
            ("p/t/responses/\u{0}", Err(ResponseTopicError::Wildcard)),
            (long.as_str(), Err(ResponseTopicError::TooLong)),
        ] {
            assert_eq!(topics.check_response(topic), expected, "{topic}");
        }
        let longest = format!(
            "p/t/responses/{}",
            "x".repeat(MAX_RESPONSE_TOPIC - "p/t/responses/".len())
        );
        assert_eq!(topics.check_response(&longest), Ok(()));
    }
}
