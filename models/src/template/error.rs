//! Why a chat template cannot be used. Every one of these is a fault of the set-up, found before the first item.

/// Why a chat template, or one prompt with it, cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The pictures of a prompt do not come through as they are.
    #[error(
        "the chat template of {source_name} renders {rendered} of the {shown} pictures of a prompt, or not in their order"
    )]
    Pictures {
        /// Where the template comes from.
        source_name: String,
        /// Pictures in the prompt.
        shown: usize,
        /// Pictures that came through.
        rendered: usize,
    },
    /// The model file carries none.
    #[error(
        "{model} has no chat template: give one with --template FILE, or ask for raw prompts with --template raw"
    )]
    Missing {
        /// The model file.
        model: String,
    },
    /// The template file cannot be read.
    #[error("the template file {path} cannot be read: {reason}")]
    File {
        /// Its path.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// It is written in another template language.
    #[error(
        "the chat template of {source_name} is a Go template, not Jinja: give a Jinja one with --template FILE, or ask for raw prompts with --template raw"
    )]
    Go {
        /// Where the template comes from.
        source_name: String,
    },
    /// It is too large to be one.
    #[error("the chat template of {source_name} has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// Where the template comes from.
        source_name: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It does not parse.
    #[error(
        "the chat template of {source_name} has an error in line {line}, column {column}: {message}; repair a copy and give it with --template FILE"
    )]
    Syntax {
        /// Where the template comes from.
        source_name: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// It stopped while it was rendered: it refused the conversation, or asked for what does not exist.
    #[error("the chat template of {source_name} failed in line {line}, column {column}: {message}")]
    Failed {
        /// Where the template comes from.
        source_name: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// It takes too much of something. Its thread may still be at work and cannot be stopped: report this and end the
    /// process, rather than go on with other models.
    #[error("the chat template of {source_name} was stopped: {limit}")]
    Limit {
        /// Where the template comes from.
        source_name: String,
        /// Which limit, with its figure.
        limit: String,
    },
    /// It does not render a plain question.
    #[error(
        "the chat template of {source_name} cannot hold a plain question: {reason}; give another with --template FILE"
    )]
    Unfit {
        /// Where the template comes from.
        source_name: String,
        /// What was found.
        reason: String,
    },
    /// It drops earlier turns, and the prompt has some.
    #[error(
        "the chat template of {source_name} drops earlier turns, so prompts with a history cannot be asked"
    )]
    NoHistory {
        /// Where the template comes from.
        source_name: String,
    },
    /// It writes the begin-of-sequence token in some prompts and not in others.
    #[error("the chat template of {source_name} writes the begin-of-sequence token in some prompts only")]
    BosVaries {
        /// Where the template comes from.
        source_name: String,
    },
    /// The prompt is not a conversation that ends with a question.
    #[error("the prompt cannot be rendered: {0}")]
    Prompt(String),
    /// There is nothing to condition on.
    #[error(
        "the prompt is empty and the model has no begin-of-sequence token: nothing stands before the first token, so it has no probability"
    )]
    Empty,
}
