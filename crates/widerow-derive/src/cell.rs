//! `#[derive(Cell)]`: newtypes as what they wrap, enums as text, structs as user-defined types.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Data, DataEnum, DeriveInput, Error, Field, Fields, FieldsNamed, GenericArgument, Ident, PathArguments, Result,
    Type, ext::IdentExt, spanned::Spanned,
};

use crate::attributes::CellWords;

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    refuse_generics(input, "a column's type has one name in the schema")?;
    let only = "#[derive(Cell)] is for newtypes (one unnamed field), enums without data and structs with named fields";
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => newtype(input, &fields.unnamed[0]),
            Fields::Named(fields) if !fields.named.is_empty() => nested(input, fields),
            _ => Err(Error::new(input.ident.span(), only)),
        },
        Data::Enum(data) => states(input, data),
        Data::Union(_) => Err(Error::new(input.ident.span(), only)),
    }
}

/// Lifetimes and type parameters make no table and no type of a schema.
pub fn refuse_generics(input: &DeriveInput, why: &str) -> Result<()> {
    if input.generics.params.is_empty() {
        return Ok(());
    }
    Err(Error::new(input.generics.span(), format!("{why}: remove the generic parameters and write the types out")))
}

/// The last word of a type's path: `f64` of `std::primitive::f64`, `Vec` of `Vec<T>`.
pub fn last_word(t: &Type) -> Option<String> {
    match t {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.unraw().to_string()),
        Type::Group(group) => last_word(&group.elem),
        Type::Paren(paren) => last_word(&paren.elem),
        _ => None,
    }
}

/// Whether the type is `word` or has it among its parameters, at any depth.
pub fn mentions(t: &Type, word: &str) -> bool {
    match t {
        Type::Group(group) => mentions(&group.elem, word),
        Type::Paren(paren) => mentions(&paren.elem, word),
        Type::Path(path) => {
            let Some(segment) = path.path.segments.last() else { return false };
            if segment.ident == word {
                return true;
            }
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
            arguments.args.iter().any(|a| matches!(a, GenericArgument::Type(t) if mentions(t, word)))
        }
        _ => false,
    }
}

fn newtype(input: &DeriveInput, field: &Field) -> Result<TokenStream> {
    if let Some(name) = CellWords::parse(&input.attrs)?.name.or(CellWords::parse(&field.attrs)?.name) {
        return Err(Error::new(name.span(), "a newtype is kept as what it wraps and has no name: remove `name`"));
    }
    let (cell, inner) = (&input.ident, &field.ty);
    if mentions(inner, "Counter") {
        // Behind another name, `#[derive(Row)]` would not know the column for a counter.
        return Err(Error::new(
            inner.span(),
            "a counter cannot be wrapped: use `Counter` itself in a table of counters",
        ));
    }
    let column_type = quote_spanned! { inner.span() => <#inner as ::widerow::value::Cell>::column_type() };
    // A bound that is false is an error where it stands, unless it is `for<'any>`: so written, the newtype may be in a
    // key exactly if the inner type may, also where that type is known by its name only.
    Ok(quote! {
        #[automatically_derived]
        impl ::widerow::value::Cell for #cell {
            fn column_type() -> ::widerow::value::Type {
                #column_type
            }
            fn to_value(&self) -> ::widerow::value::Value {
                <#inner as ::widerow::value::Cell>::to_value(&self.0)
            }
            fn from_value(
                value: ::widerow::value::Value,
            ) -> ::std::result::Result<Self, ::widerow::value::Mismatch> {
                ::std::result::Result::map(<#inner as ::widerow::value::Cell>::from_value(value), #cell)
            }
            const OPTIONAL: bool = <#inner as ::widerow::value::Cell>::OPTIONAL;
        }
        #[automatically_derived]
        impl ::widerow::value::Single for #cell where for<'any> #inner: ::widerow::value::Single {}
        #[automatically_derived]
        impl ::widerow::value::KeyCell for #cell where for<'any> #inner: ::widerow::value::KeyCell {}
    })
}

fn nested(input: &DeriveInput, fields: &FieldsNamed) -> Result<TokenStream> {
    let cell = &input.ident;
    let own_name = cell.unraw().to_string();
    let name = CellWords::parse(&input.attrs)?.name.map_or_else(|| snake_case(&own_name), |name| name.value());
    let mut names: Vec<String> = Vec::new();
    for field in &fields.named {
        let ident = field.ident.as_ref().expect("the fields are named");
        let (span, name) = match CellWords::parse(&field.attrs)?.name {
            Some(name) => (name.span(), name.value()),
            None => (ident.span(), ident.unraw().to_string()),
        };
        if names.contains(&name) {
            return Err(Error::new(span, format!("two fields are named `{name}`: rename one")));
        }
        if mentions(&field.ty, "Counter") {
            return Err(Error::new(field.ty.span(), "a counter cannot be nested: use i64, or a table of counters"));
        }
        if mentions(&field.ty, &own_name) {
            return Err(Error::new(
                field.ty.span(),
                "a nested type cannot contain itself: keep the others by their ids",
            ));
        }
        names.push(name);
    }
    let types: Vec<&Type> = fields.named.iter().map(|field| &field.ty).collect();
    let idents: Vec<&Ident> = fields.named.iter().filter_map(|field| field.ident.as_ref()).collect();
    let column_types =
        types.iter().map(|t| quote_spanned! { t.span() => <#t as ::widerow::value::Cell>::column_type() });
    // A stored value may have fewer fields than the type has today: those are null. The fields of a struct expression
    // are evaluated as written, which is the order of the values.
    let taken_as = names.iter().map(|field| format!("field {field} of type {name}"));
    Ok(quote! {
        #[automatically_derived]
        impl ::widerow::value::Cell for #cell {
            fn column_type() -> ::widerow::value::Type {
                ::widerow::value::Type::Struct(::widerow::value::StructType {
                    name: ::std::string::String::from(#name),
                    fields: ::std::vec![#((::std::string::String::from(#names), #column_types)),*],
                })
            }
            fn to_value(&self) -> ::widerow::value::Value {
                ::widerow::value::Value::Struct(::std::vec![
                    #(<#types as ::widerow::value::Cell>::to_value(&self.#idents)),*
                ])
            }
            fn from_value(
                value: ::widerow::value::Value,
            ) -> ::std::result::Result<Self, ::widerow::value::Mismatch> {
                fn take<T: ::widerow::value::Cell>(
                    fields: &mut ::std::vec::IntoIter<::widerow::value::Value>,
                    place: &str,
                ) -> ::std::result::Result<T, ::widerow::value::Mismatch> {
                    let value = fields.next().unwrap_or(::widerow::value::Value::Null);
                    T::from_value(value).map_err(|mismatch| ::widerow::value::Mismatch {
                        expected: ::std::format!("{} in {place}", mismatch.expected),
                        found: mismatch.found,
                    })
                }
                let mut fields = match value {
                    ::widerow::value::Value::Struct(fields) => ::std::iter::IntoIterator::into_iter(fields),
                    other => {
                        return ::std::result::Result::Err(::widerow::value::Mismatch::new(#name, &other));
                    }
                };
                ::std::result::Result::Ok(#cell { #(#idents: take::<#types>(&mut fields, #taken_as)?),* })
            }
        }
        #[automatically_derived]
        impl ::widerow::value::Single for #cell {}
    })
}

fn states(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let cell = &input.ident;
    if let Some(name) = CellWords::parse(&input.attrs)?.name {
        return Err(Error::new(name.span(), "an enum is kept as text and has no name: remove `name`"));
    }
    if data.variants.is_empty() {
        return Err(Error::new(cell.span(), "an enum without variants has no value to keep: add a variant"));
    }
    let mut texts: Vec<String> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let problem = "an enum is kept as text and its variants hold no data: \
                           keep the data in columns of their own, or in a struct with #[derive(Cell)]";
            return Err(Error::new(variant.fields.span(), problem));
        }
        let (span, text) = match CellWords::parse(&variant.attrs)?.name {
            Some(name) => (name.span(), name.value()),
            None => (variant.ident.span(), snake_case(&variant.ident.unraw().to_string())),
        };
        if texts.contains(&text) {
            return Err(Error::new(span, format!("two variants are kept as `{text}`: give one another #[cell(name)]")));
        }
        texts.push(text);
    }
    let visibility = &input.vis;
    let variants: Vec<&Ident> = data.variants.iter().map(|variant| &variant.ident).collect();
    let expected = format!("{} (one of {})", cell.unraw(), texts.join(", "));
    Ok(quote! {
        impl #cell {
            /// The text that is stored.
            #visibility const fn as_str(&self) -> &'static str {
                match self {
                    #(#cell::#variants => #texts),*
                }
            }
        }
        #[automatically_derived]
        impl ::widerow::value::Cell for #cell {
            fn column_type() -> ::widerow::value::Type {
                ::widerow::value::Type::Text
            }
            fn to_value(&self) -> ::widerow::value::Value {
                ::widerow::value::Value::Text(::std::string::String::from(#cell::as_str(self)))
            }
            fn from_value(
                value: ::widerow::value::Value,
            ) -> ::std::result::Result<Self, ::widerow::value::Mismatch> {
                if let ::widerow::value::Value::Text(text) = &value {
                    match text.as_str() {
                        #(#texts => return ::std::result::Result::Ok(#cell::#variants),)*
                        _ => {}
                    }
                }
                ::std::result::Result::Err(::widerow::value::Mismatch::new(#expected, &value))
            }
        }
        #[automatically_derived]
        impl ::widerow::value::Single for #cell {}
        #[automatically_derived]
        impl ::widerow::value::KeyCell for #cell {}
    })
}

/// `OnSale` as `on_sale`, `HTTPPort` as `http_port`, `Level2` as `level2`.
pub fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (i, letter) in letters.iter().enumerate() {
        let starts_word = letter.is_uppercase()
            && i > 0
            && letters[i - 1] != '_'
            && (!letters[i - 1].is_uppercase() || letters.get(i + 1).is_some_and(|next| next.is_lowercase()));
        if starts_word {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
