//! Characters into tokens.

use crate::tree::At;
use std::sync::Arc;

/// One token and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) at: At,
    pub(crate) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A run of anything else within a line, without blanks at its ends: names and values are unquoted and hold blanks.
    Text(String),
    /// One of `{ } [ ] = ,`.
    Mark(char),
    /// The end of the file.
    End,
}

impl TokenKind {
    /// For messages.
    pub(crate) fn found(&self) -> String {
        match self {
            Self::Text(text) => format!("`{}`", crate::tree::shortened(text)),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the file".to_owned(),
        }
    }
}

/// The tokens of a text, [`TokenKind::End`] last.
pub(crate) fn tokens(file: &Arc<str>, text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut line_number = 0;
    for (line, number) in text.split('\n').zip(1_u32..) {
        line_number = number;
        let at = || At { file: file.clone(), line: number };
        let line = line.split_once('#').map_or(line, |(before, _)| before);
        let mut rest = line;
        while let Some(end) = rest.find(['{', '}', '[', ']', '=', ',']) {
            push_text(&mut tokens, at(), &rest[..end]);
            let mark = char::from(rest.as_bytes()[end]);
            tokens.push(Token { at: at(), kind: TokenKind::Mark(mark) });
            rest = &rest[end + 1..];
        }
        push_text(&mut tokens, at(), rest);
    }
    // The end is where the last thing stood, not behind blank lines.
    let line = tokens.last().map_or(line_number, |token: &Token| token.at.line);
    tokens.push(Token { at: At { file: file.clone(), line }, kind: TokenKind::End });
    tokens
}

fn push_text(tokens: &mut Vec<Token>, at: At, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        tokens.push(Token { at, kind: TokenKind::Text(text.to_owned()) });
    }
}
