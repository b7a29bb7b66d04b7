//! The OpenAPI document: what the handlers say of themselves, completed with what holds for every route.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use utoipa::{
    PartialSchema as _, ToSchema as _,
    openapi::{
        Components, ContentBuilder, InfoBuilder, OpenApi, Ref, RefOr, ResponseBuilder, Tag,
        path::{Operation, Parameter, ParameterBuilder, ParameterIn},
        schema::{ObjectBuilder, Schema, Type},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use super::{
    access::{self, Access, Rule},
    codes::CODES,
    cookies,
    problem::{Details, FieldProblem, PriceChange, ProblemBody, Shortage},
    settings::HttpSettings,
};

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const TAGS: [(&str, &str); 19] = [
    ("catalog", "Products and categories, and every way in which they are found"),
    ("auth", "Registering, logging in and out"),
    ("me", "What the shop knows of whoever is logged in"),
    ("carts", "Carts by name, one of them active; a guest has one"),
    ("checkout", "From a cart to an order that is paid for"),
    ("orders", "What was bought, and where it stands"),
    ("admin: catalog", "Upkeep of products, categories and featured lists"),
    ("admin: trees", "Departments, taxonomies: nodes with names, each below another"),
    ("admin: graph", "Who knows whom: connections, ways between people, whom one may know, who belongs together"),
    ("admin: orders", "Orders on their way, and discount codes"),
    ("admin: inventory", "Stock, its movements, and holds on it"),
    ("admin: analytics", "What was sold, what was looked at, what does best"),
    ("admin: sales", "Records of sales, and what they say about prices"),
    ("admin: telemetry", "Sensors, and what they measured"),
    ("admin: events", "What happened, stream by stream and all in one feed, and what follows from it"),
    ("wallets", "Store credit of customers: put in, taken out, moved, and its statement"),
    ("admin: users", "Who has an account"),
    ("admin: keys", "Keys of programs"),
    ("system", "The server itself"),
];

/// Every method and path of the document.
pub fn operations(openapi: &OpenApi) -> BTreeSet<(String, String)> {
    let document = serde_json::to_value(&openapi.paths).unwrap_or_default();
    let paths = document.as_object().into_iter().flatten();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = METHODS.iter().filter(|method| item.get(method.to_ascii_lowercase()).is_some());
        methods.map(|method| ((*method).to_owned(), path.clone())).collect::<Vec<_>>()
    };
    paths.flat_map(of_path).collect()
}

/// Adds to each operation who may call it, and every problem that it may answer.
pub fn complete(mut openapi: OpenApi, settings: &HttpSettings) -> OpenApi {
    openapi.info = InfoBuilder::new()
        .title("merkato")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A headless commerce backend. Errors are `application/problem+json`; `code` is what a program decides by, and \
             `/docs/errors` lists them. Every unsafe route whose answer holds no secret, and whose body no password, takes an \
             `Idempotency-Key`.",
        ))
        .build();
    if let Some(url) = &settings.public_url {
        openapi.servers = Some(vec![utoipa::openapi::Server::new(url.as_str())]);
    }
    let tag = |(name, description): (&str, &str)| {
        let mut tag = Tag::new(name);
        tag.description = Some(description.to_owned());
        tag
    };
    openapi.tags = Some(TAGS.into_iter().map(tag).collect());
    for (path, item) in &mut openapi.paths.paths {
        let operations =
            [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().zip(METHODS);
        for (operation, method) in operations {
            let rule = access::RULES.iter().find(|rule| rule.path == path && rule.method == method);
            if let (Some(operation), Some(rule)) = (operation.as_mut(), rule) {
                complete_operation(operation, rule);
            }
        }
    }
    let components = openapi.components.get_or_insert_with(Components::new);
    components.schemas.insert("Problem".into(), problem_schema());
    components.schemas.insert(FieldProblem::name().into(), FieldProblem::schema());
    components.schemas.insert(Details::name().into(), Details::schema());
    components.schemas.insert(PriceChange::name().into(), PriceChange::schema());
    components.schemas.insert(Shortage::name().into(), Shortage::schema());
    add_security(components);
    openapi
}

fn problem_schema() -> RefOr<Schema> {
    let mut schema = ProblemBody::schema();
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        let codes = CODES.iter().map(|known| known.code);
        let code =
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some(codes)).examples(["product_not_found"]);
        object.properties.insert("code".into(), code.description(Some("What a program decides by.")).into());
        object.required.retain(|name| name != "detail" && name != "errors" && name != "details");
    }
    schema
}

fn add_security(components: &mut Components) {
    let bearer = |description: &str| {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description));
        SecurityScheme::Http(scheme.build())
    };
    let schemes = [
        ("session", bearer("The token that logging in gave")),
        ("session_cookie", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(cookies::SESSION)))),
        ("api_key", bearer("A program's key, as mk_default_…")),
        ("guest", SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("Merkato-Guest")))),
        ("guest_cookie", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(cookies::GUEST)))),
    ];
    for (name, scheme) in schemes {
        components.add_security_scheme(name, scheme);
    }
}

fn complete_operation(operation: &mut Operation, rule: &Rule) {
    let schemes: &[&str] = match rule.access {
        Access::System | Access::Anyone => &[],
        Access::Shopper => &["session", "session_cookie", "guest", "guest_cookie"],
        Access::Person => &["session", "session_cookie"],
        Access::Staff(_) | Access::Admin(_) => &["session", "session_cookie", "api_key"],
    };
    if let Access::Staff(scope) | Access::Admin(scope) = rule.access {
        let text = operation.description.take().unwrap_or_default();
        operation.description =
            Some(format!("{text}\n\nA key needs the scope `{}`.", scope.as_str()).trim().to_owned());
    }
    let none: [&str; 0] = [];
    operation.security = Some(schemes.iter().map(|name| SecurityRequirement::new(*name, none)).collect());
    let headers = parameters(rule);
    operation.parameters.get_or_insert_default().extend(headers);
    // What its handler says of a problem stands, and has the one form that all have.
    let told = operation.responses.responses.keys().filter_map(|status| status.parse().ok());
    let told: Vec<u16> = told.filter(|status| *status >= 400).collect();
    for status in statuses(rule).into_iter().chain(told) {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
        let titles: Vec<_> =
            CODES.iter().filter(|known| known.status.as_u16() == status).map(|known| known.code).collect();
        let content = content.example(Some(example(status, titles.first().copied()))).build();
        let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let new = || ResponseBuilder::new().description(reason.unwrap_or("A problem")).build().into();
        let response = operation.responses.responses.entry(status.to_string()).or_insert_with(new);
        if let RefOr::T(response) = response {
            response.content.insert("application/problem+json".into(), content);
        }
    }
    let answers = operation.responses.responses.iter_mut();
    for (status, response) in answers {
        let RefOr::T(response) = response else { continue };
        let header = |description: &str, kind: Type| {
            let schema = ObjectBuilder::new().schema_type(kind);
            utoipa::openapi::HeaderBuilder::new().schema(schema).description(Some(description)).build()
        };
        let mut add = |name: &str, description: &str, kind: Type| {
            response.headers.insert(name.to_owned(), header(description, kind));
        };
        add("X-Request-Id", "The request's id, in the log as well", Type::String);
        add("Merkato-Cost", "What was read and written for it", Type::String);
        if matches!(status.as_str(), "429" | "503") {
            add("Retry-After", "Seconds to wait", Type::Integer);
        }
        if status == "200" && rule.method == "GET" && rule.access != Access::System {
            add("ETag", "For If-None-Match, and for If-Match where it is taken", Type::String);
        }
        if rule.takes_key() {
            add("Idempotent-Replayed", "`true` if the answer was kept from before", Type::String);
        }
    }
}

/// What every answer of a kind of route may be beside what its handler says.
fn statuses(rule: &Rule) -> BTreeSet<u16> {
    let mut statuses = BTreeSet::from([500, 503]);
    if rule.access == Access::System {
        statuses.extend(rule.counted.then_some(429));
        return statuses;
    }
    // A bearer that is not good is told so wherever it is shown; a key may contradict the shop that is named.
    statuses.extend([400, 401, 403, 404, 429]);
    if rule.is_unsafe() {
        statuses.extend([408, 409, 412, 413, 415, 422]);
    }
    statuses
}

fn example(status: u16, code: Option<&str>) -> Value {
    let code = code.unwrap_or("internal");
    let title = CODES.iter().find(|known| known.code == code).map_or("", |known| known.title);
    json!({
        "type": format!("/docs/errors#{code}"),
        "title": title,
        "status": status,
        "code": code,
        "request_id": "0199a1b2-0000-7000-8000-000000000000",
    })
}

/// Headers that a route takes, beside what its handler says.
fn parameters(rule: &Rule) -> Vec<Parameter> {
    let header = |name: &str, description: &str, schema: ObjectBuilder, required: bool| {
        ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(if required { utoipa::openapi::Required::True } else { utoipa::openapi::Required::False })
            .description(Some(description))
            .schema(Some(schema.schema_type(Type::String)))
            .build()
    };
    if rule.access == Access::System {
        return Vec::new();
    }
    let tenant = ObjectBuilder::new().pattern(Some("^[a-z0-9][a-z0-9_-]{0,63}$"));
    let mut headers = vec![header("Merkato-Tenant", "Which shop; the host's or `default` without it", tenant, false)];
    if rule.takes_key() {
        let key = ObjectBuilder::new().min_length(Some(1)).max_length(Some(255)).pattern(Some("^[!-~]+$"));
        let description = "The same request with the same key is done once, and answered the same for a day";
        headers.push(header("Idempotency-Key", description, key, rule.key_required));
    }
    if rule.method == "GET" {
        let tag = ObjectBuilder::new();
        headers.push(header("If-None-Match", "The ETag of an answer that the client has", tag, false));
    }
    headers
}
