//! Rows as CSV.

use serde::Serialize;

/// Declares a line of a CSV file: its columns in their order, each with its type and an expression for its value. The
/// line's `new` computes the values from its arguments.
macro_rules! columns {
    (
        $(#[$about:meta])*
        $vis:vis $row:ident($($given:ident: $of:ty),* $(,)?) {
            $($(#[$doc:meta])* $column:ident: $kind:ty = $value:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, serde::Serialize)]
        $vis struct $row {
            $($(#[$doc])* $column: $kind,)*
        }

        $(const _: () = assert!(
            $crate::report::columns::has_unit(stringify!($column)),
            "a column has no unit; expected it in report/columns.rs"
        );)*

        impl $row {
            $vis fn new($($given: $of),*) -> Self {
                Self { $($column: $value,)* }
            }
        }
    };
}

pub(crate) use columns;

/// Returns a header with the fields' names, and a line for each row.
pub(crate) fn text<R: Serialize>(rows: &[R]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
