//! The parser: a tree of tokens, by recursive descent.
//!
//! ```text
//! or         = and { "or" and }
//! and        = not { "and" not }
//! not        = "not" not | comparison
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum | "within" number [ unit ] "of" sum ]
//! sum        = product { ("+" | "-") product }
//! product    = sign { ("*" | "/") sign }
//! sign       = "-" sign | part
//! part       = number [ unit ] | text | quantity | function "(" [ or { "," or } ] ")" | "(" or ")"
//!            | ("ours" | "paper") "(" [ name [ "," name ] ] ")"
//! name       = text | "*"
//! ```

use std::ops::Range;

use super::function::Function;
use super::lexer::{Token, TokenKind, tokens};
use super::tree::{Arithmetic, CellSide, Comparison, ExpressionMistake, Name, Node, NodeKind};

/// Deepest nesting of brackets and signs: a file must not exhaust the stack.
const DEEPEST: usize = 60;

/// Words that are no quantities.
const KEYWORDS: [&str; 5] = ["and", "or", "not", "within", "of"];

/// Returns the tree of a text.
pub(super) fn parse(text: &str) -> Result<Node, ExpressionMistake> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        end: text.len(),
    };
    let root = parser.either()?;
    match parser.tokens.get(parser.at) {
        None => Ok(root),
        Some(token) => Err(ExpressionMistake::new(
            "the expression has an end before this",
            &token.span,
        )),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    end: usize,
}

type Parsed = Result<Node, ExpressionMistake>;

impl Parser {
    /// Takes the next token if it is this sign.
    fn sign(&mut self, wanted: &str) -> Option<Range<usize>> {
        let token = self.tokens.get(self.at)?;
        let is_wanted = matches!(token.kind, TokenKind::Sign(sign) if sign == wanted);
        self.at += usize::from(is_wanted);
        is_wanted.then(|| token.span.clone())
    }

    /// Takes the next token if it is this word.
    fn word(&mut self, wanted: &str) -> Option<Range<usize>> {
        let token = self.tokens.get(self.at)?;
        let is_wanted = matches!(&token.kind, TokenKind::Word(word) if word == wanted);
        self.at += usize::from(is_wanted);
        is_wanted.then(|| token.span.clone())
    }

    /// Returns the place of the next token, or the end of the text.
    fn here(&self) -> Range<usize> {
        let token = self.tokens.get(self.at);
        token.map_or(self.end..self.end, |token| token.span.clone())
    }

    fn expected(&self, what: &str) -> ExpressionMistake {
        ExpressionMistake::new(format!("expected {what}"), &self.here())
    }

    fn need(&mut self, sign: &str) -> Result<Range<usize>, ExpressionMistake> {
        let found = self.sign(sign);
        found.ok_or_else(|| self.expected(&format!("`{sign}`")))
    }

    fn either(&mut self) -> Parsed {
        let mut one = self.both()?;
        while self.word("or").is_some() {
            one = join(one, self.both()?, NodeKind::Or);
        }
        Ok(one)
    }

    fn both(&mut self) -> Parsed {
        let mut one = self.negation()?;
        while self.word("and").is_some() {
            one = join(one, self.negation()?, NodeKind::And);
        }
        Ok(one)
    }

    fn negation(&mut self) -> Parsed {
        match self.word("not") {
            None => self.comparison(),
            Some(span) => self.deeper(|parser| {
                let of = parser.negation()?;
                let span = span.start..of.span.end;
                let kind = NodeKind::Not(Box::new(of));
                Ok(Node { kind, span })
            }),
        }
    }

    fn comparison(&mut self) -> Parsed {
        const SIGNS: [(&str, Comparison); 6] = [
            ("<", Comparison::Less),
            ("<=", Comparison::LessOrEqual),
            (">", Comparison::Greater),
            (">=", Comparison::GreaterOrEqual),
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
        ];
        let one = self.sum()?;
        if self.word("within").is_some() {
            let tolerance = self.part()?;
            if !matches!(tolerance.kind, NodeKind::Number(_) | NodeKind::Time(_)) {
                let message = "a tolerance is a share, such as `5 %`, or a time";
                return Err(ExpressionMistake::new(message, &tolerance.span));
            }
            if self.word("of").is_none() {
                return Err(self.expected("`of`: `a within 5 % of b`"));
            }
            let of = self.sum()?;
            let span = one.span.start..of.span.end;
            let kind = NodeKind::Within {
                value: Box::new(one),
                tolerance: Box::new(tolerance),
                of: Box::new(of),
            };
            return Ok(Node { kind, span });
        }
        for (sign, comparison) in SIGNS {
            if self.sign(sign).is_some() {
                let other = self.sum()?;
                return Ok(join(one, other, |one, other| {
                    NodeKind::Compare(comparison, one, other)
                }));
            }
        }
        Ok(one)
    }

    fn sum(&mut self) -> Parsed {
        let mut one = self.product()?;
        loop {
            let operator = if self.sign("+").is_some() {
                Arithmetic::Plus
            } else if self.sign("-").is_some() {
                Arithmetic::Minus
            } else {
                return Ok(one);
            };
            one = arithmetic(operator, one, self.product()?);
        }
    }

    fn product(&mut self) -> Parsed {
        let mut one = self.signed()?;
        loop {
            let operator = if self.sign("*").is_some() {
                Arithmetic::Times
            } else if self.sign("/").is_some() {
                Arithmetic::Divided
            } else {
                return Ok(one);
            };
            one = arithmetic(operator, one, self.signed()?);
        }
    }

    fn signed(&mut self) -> Parsed {
        match self.sign("-") {
            None => self.part(),
            Some(span) => self.deeper(|parser| {
                let of = parser.signed()?;
                let span = span.start..of.span.end;
                let kind = NodeKind::Negative(Box::new(of));
                Ok(Node { kind, span })
            }),
        }
    }

    /// Reads a part that contains others.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth == DEEPEST {
            return Err(self.expected("less than 60 brackets around this"));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn part(&mut self) -> Parsed {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err(self.expected("a value"));
        };
        let span = token.span;
        self.at += 1;
        let kind = match token.kind {
            TokenKind::Number(number) => NodeKind::Number(number),
            TokenKind::Time(time) => NodeKind::Time(time),
            TokenKind::Text(text) => NodeKind::Text(text),
            TokenKind::Quoted(name) => NodeKind::Quantity(name),
            TokenKind::Sign("(") => {
                let node = self.deeper(Self::either)?;
                self.need(")")?;
                return Ok(node);
            }
            TokenKind::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                return match self.sign("(") {
                    Some(_) => self.deeper(|parser| parser.call(&word, span)),
                    None => Ok(Node {
                        kind: NodeKind::Quantity(word),
                        span,
                    }),
                };
            }
            TokenKind::Word(_) | TokenKind::Sign(_) => {
                self.at -= 1;
                return Err(self.expected("a value"));
            }
        };
        Ok(Node { kind, span })
    }

    /// Reads what is behind a name and its bracket.
    fn call(&mut self, name: &str, begin: Range<usize>) -> Parsed {
        let side = match name {
            "ours" => Some(CellSide::Ours),
            "paper" => Some(CellSide::Paper),
            _ => None,
        };
        if let Some(side) = side {
            return self.cells(side, begin.start);
        }
        let Some(function) = Function::of_name(name) else {
            let message = format!(
                "there is no function `{name}`; known: ours, paper, {}",
                Function::names().join(", ")
            );
            return Err(ExpressionMistake::new(message, &begin));
        };
        let mut arguments = Vec::new();
        let end = loop {
            if arguments.is_empty()
                && let Some(end) = self.sign(")")
            {
                break end;
            }
            arguments.push(self.either()?);
            match self.sign(",") {
                Some(_) => {}
                None => break self.need(")")?,
            }
        };
        let span = begin.start..end.end;
        let kind = NodeKind::Call(function, arguments);
        Ok(Node { kind, span })
    }

    fn cells(&mut self, side: CellSide, begin: usize) -> Parsed {
        let (mut row, mut column) = (None, None);
        let mut end = self.sign(")");
        if end.is_none() {
            row = self.name()?;
            if self.sign(",").is_some() {
                column = self.name()?;
            }
            end = Some(self.need(")")?);
        }
        let span = begin..end.map_or(begin, |end| end.end);
        let kind = NodeKind::Cells(side, row, column);
        Ok(Node { kind, span })
    }

    /// Reads the name of a row or column, or `*` for all.
    fn name(&mut self) -> Result<Option<Name>, ExpressionMistake> {
        if self.sign("*").is_some() {
            return Ok(None);
        }
        let token = self.tokens.get(self.at).cloned();
        match token {
            Some(Token {
                kind: TokenKind::Text(text),
                span,
            }) => {
                self.at += 1;
                Ok(Some(Name { text, span }))
            }
            _ => Err(self.expected("a name in quotes, or `*`")),
        }
    }
}

fn join(one: Node, other: Node, kind: impl FnOnce(Box<Node>, Box<Node>) -> NodeKind) -> Node {
    let span = one.span.start..other.span.end;
    let kind = kind(Box::new(one), Box::new(other));
    Node { kind, span }
}

fn arithmetic(operator: Arithmetic, one: Node, other: Node) -> Node {
    join(one, other, |one, other| {
        NodeKind::Arithmetic(operator, one, other)
    })
}
