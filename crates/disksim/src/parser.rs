//! Tokens into blocks.
//!
//! ```text
//! file      = { block | "source" file | "instantiate" list "as" name | "topology" wiring }
//! block     = kind [ name ] "{" { name "=" value [ "," ] } "}"
//! value     = number | text | list | block | "source" file
//! list      = "[" { value [ "," ] } "]"
//! ```
//!
//! Text is unquoted and ends with the line or at one of `{ } [ ] = ,`; `#` begins a comment.

use crate::error::ImportError;
use crate::lexer::{Token, TokenKind, tokens};
use crate::report::Report;
use crate::sources::{Source, Sources};
use crate::tree::{At, Block, Item, Kind, Parameter, Value, shortened};
use std::path::{Path, PathBuf};

/// Deeper nesting than any file has; protects the stack.
const MAX_DEPTH: u32 = 64;

/// Reads files and everything they source.
pub(crate) fn parse_files(
    paths: &[PathBuf],
    sources: &mut Sources,
    report: &mut Report,
) -> Result<Vec<Item>, ImportError> {
    let mut items = Vec::new();
    for path in paths {
        if let Some(source) = sources.open(path)? {
            Parser::new(&source, sources, report, 0).items(&mut items)?;
            sources.close();
        }
    }
    Ok(items)
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    sources: &'a mut Sources,
    report: &'a mut Report,
    depth: u32,
}

/// Splits `source FILE`.
fn sourced(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("source")?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim())
}

impl<'a> Parser<'a> {
    fn new(source: &Source, sources: &'a mut Sources, report: &'a mut Report, depth: u32) -> Self {
        Self { tokens: tokens(&source.name, &source.text), next: 0, sources, report, depth }
    }

    fn peek(&self) -> &Token {
        // The last token is the end, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// Takes the mark if it comes next.
    fn accept(&mut self, mark: char) -> bool {
        let found = self.peek().kind == TokenKind::Mark(mark);
        self.next += usize::from(found);
        found
    }

    fn unexpected(&self, expected: &str) -> ImportError {
        let token = self.peek();
        ImportError::at(&token.at, format!("expected {expected}, but found {}", token.kind.found()))
    }

    fn deeper(&mut self, at: &At) -> Result<(), ImportError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ImportError::at(
                at,
                format!("blocks and lists are nested more than {MAX_DEPTH} deep"),
            ));
        }
        Ok(())
    }

    /// Everything up to the end of the file.
    fn items(mut self, items: &mut Vec<Item>) -> Result<(), ImportError> {
        loop {
            let token = self.take();
            let text = match token.kind {
                TokenKind::End => return Ok(()),
                TokenKind::Text(text) => text,
                TokenKind::Mark(_) => {
                    self.next -= 1;
                    let expected = "the beginning of a block, `kind name {`,";
                    return Err(self.unexpected(expected).hint("is a brace too many above?"));
                }
            };
            if let Some(name) = sourced(&text) {
                self.source_items(name, &token.at, items)?;
            } else if text == "instantiate" || text.starts_with("instantiate ") {
                items.push(Item::Wiring(self.instances(token.at)?));
            } else if text == "topology" || text.starts_with("topology ") {
                items.push(Item::Wiring(self.wiring(token.at, &text)?));
            } else {
                items.push(Item::Block(self.block(token.at, &text)?));
            }
        }
    }

    fn source_items(&mut self, name: &str, at: &At, items: &mut Vec<Item>) -> Result<(), ImportError> {
        let source = self.sources.open_sourced(name, at)?;
        // A file that two others source says the same both times.
        if !self.sources.repeats() {
            Parser::new(&source, self.sources, self.report, self.depth + 1).items(items)?;
        }
        self.sources.close();
        Ok(())
    }

    /// The rest of `kind [name] {`.
    fn block(&mut self, at: At, head: &str) -> Result<Block, ImportError> {
        if !self.accept('{') {
            let expected = format!("`{{` after `{}`", shortened(head));
            return Err(self.unexpected(&expected).hint("a block is written `kind name { … }`"));
        }
        self.deeper(&at)?;
        let (kind, name) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
        let mut block =
            Block { kind: kind.to_owned(), name: name.trim().to_owned(), at, parameters: Vec::new() };
        loop {
            // Commas are left out here and there, and doubled elsewhere.
            while self.accept(',') {}
            if self.accept('}') {
                break;
            }
            let parameter = self.parameter(&block)?;
            self.add(&mut block, parameter)?;
            let token = self.peek();
            let ends = matches!(token.kind, TokenKind::Mark(',' | '}'));
            if !ends {
                let open =
                    format!("`,` or `}}` (the block `{}` begins in line {})", block.kind, block.at.line);
                let problem = self.unexpected(&open);
                return Err(match self.peek().kind {
                    TokenKind::End => problem.hint("the file ends too early: is it complete?"),
                    _ => problem.hint("is the comma missing behind the value above?"),
                });
            }
        }
        self.depth -= 1;
        Ok(block)
    }

    fn parameter(&mut self, block: &Block) -> Result<Parameter, ImportError> {
        let TokenKind::Text(name) = self.peek().kind.clone() else {
            let open = format!(
                "a parameter's name or `}}` (the block `{}` begins in line {})",
                block.kind, block.at.line
            );
            let problem = self.unexpected(&open);
            return Err(match self.peek().kind {
                TokenKind::End => problem.hint("the file ends too early: is it complete?"),
                _ => problem,
            });
        };
        let at = self.take().at;
        if !self.accept('=') {
            return Err(self.unexpected(&format!("`=` after `{}`", shortened(&name))));
        }
        let value = self.value(&name)?;
        Ok(Parameter { name, at, value })
    }

    fn add(&mut self, block: &mut Block, parameter: Parameter) -> Result<(), ImportError> {
        if let Some(first) = block.parameters.iter().position(|other| other.name == parameter.name) {
            let line = block.parameters[first].at.line;
            let message =
                format!("`{}` stands here for the second time (first in line {line})", parameter.name);
            self.report.refuse(ImportError::at(&parameter.at, message), "the second value counts")?;
            block.parameters.remove(first);
        }
        block.parameters.push(parameter);
        Ok(())
    }

    fn value(&mut self, of: &str) -> Result<Value, ImportError> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Mark('[') => self.list(),
            TokenKind::Text(text) => {
                self.next += 1;
                if let Some(name) = sourced(&text) {
                    return self.source_value(name, &token.at, of);
                }
                let kind = if self.peek().kind == TokenKind::Mark('{') {
                    Kind::Block(self.block(token.at.clone(), &text)?)
                } else {
                    Kind::of_text(&text)
                };
                Ok(Value { at: token.at, kind })
            }
            _ => Err(self.unexpected(&format!("a value for `{}`", shortened(of)))),
        }
    }

    fn list(&mut self) -> Result<Value, ImportError> {
        let at = self.take().at;
        self.deeper(&at)?;
        let mut values = Vec::new();
        loop {
            // Empty elements stand for nothing.
            while self.accept(',') {}
            if self.accept(']') {
                break;
            }
            if self.peek().kind == TokenKind::End {
                let expected = format!("`]` (the list begins in line {})", at.line);
                return Err(self.unexpected(&expected).hint("the file ends too early: is it complete?"));
            }
            values.push(self.value("an element of the list")?);
            if !matches!(self.peek().kind, TokenKind::Mark(',' | ']') | TokenKind::End) {
                let expected = format!("`,` or `]` (the list begins in line {})", at.line);
                return Err(self.unexpected(&expected));
            }
        }
        self.depth -= 1;
        Ok(Value { at, kind: Kind::List(values) })
    }

    /// The one block or list that a file holds.
    fn source_value(&mut self, name: &str, at: &At, of: &str) -> Result<Value, ImportError> {
        let source = self.sources.open_sourced(name, at)?;
        let mut inner = Parser::new(&source, self.sources, self.report, self.depth + 1);
        if inner.peek().kind == TokenKind::End {
            let place = &inner.peek().at;
            return Err(ImportError::at(place, format!("is empty; a value for `{of}` was expected"))
                .hint(format!("it is sourced by {at}")));
        }
        let value = inner.value(of)?;
        if inner.peek().kind != TokenKind::End {
            return Err(inner.unexpected("the end of the file").hint(format!(
                "the file is sourced by {at} as the value of `{of}`, and holds one value and nothing behind it"
            )));
        }
        self.sources.close();
        Ok(value)
    }

    /// The rest of `instantiate [ names ] as block`.
    fn instances(&mut self, at: At) -> Result<Value, ImportError> {
        if self.peek().kind != TokenKind::Mark('[') {
            return Err(self.unexpected("`[` after `instantiate`"));
        }
        let names = self.list()?;
        let TokenKind::Text(of) = self.peek().kind.clone() else {
            return Err(self.unexpected("`as` and a block's name"));
        };
        if !of.starts_with("as") {
            return Err(self.unexpected("`as` and a block's name"));
        }
        let of = Value { at: self.take().at, kind: Kind::Text(of) };
        Ok(Value { at, kind: Kind::List(vec![names, of]) })
    }

    /// Names, each followed by a list of what hangs below it; commas do not matter.
    fn wiring(&mut self, at: At, head: &str) -> Result<Value, ImportError> {
        self.deeper(&at)?;
        let mut values = vec![Value { at: at.clone(), kind: Kind::Text(head.to_owned()) }];
        if self.accept('[') {
            values.push(self.wiring_list(at.clone())?);
        }
        self.depth -= 1;
        Ok(Value { at, kind: Kind::List(values) })
    }

    fn wiring_list(&mut self, at: At) -> Result<Value, ImportError> {
        let mut values = Vec::new();
        loop {
            let token = self.take();
            match token.kind {
                TokenKind::Mark(']') => return Ok(Value { at, kind: Kind::List(values) }),
                TokenKind::Mark(',') => {}
                TokenKind::Text(text) => values.push(self.wiring(token.at, &text)?),
                TokenKind::Mark(_) | TokenKind::End => {
                    self.next -= 1;
                    let expected = format!("a component or `]` (the list begins in line {})", at.line);
                    return Err(self.unexpected(&expected));
                }
            }
        }
    }
}

/// A file beside another, by name: for files that are named as values and are not parameter files themselves.
pub(crate) fn open_beside(sources: &mut Sources, name: &str, at: &At) -> Result<Source, ImportError> {
    let source = sources.open_sourced(name, at)?;
    sources.close();
    Ok(source)
}

/// The last part of a path, for sources and messages.
pub(crate) fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
