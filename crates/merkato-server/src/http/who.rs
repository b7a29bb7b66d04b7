//! Who makes a request, and to which shop.
//!
//! The shop: an API key's own; else the header `Merkato-Tenant`; else the host name's; else `default`. The principal: what
//! `Authorization` says, else the session's cookie, else a guest's cart. A request that changes something by a cookie must
//! come from the site's own pages; one by a header cannot be made by another site.

use std::{net::IpAddr, sync::Arc};

use axum::extract::FromRequestParts;
use http::{HeaderMap, Uri, header, request::Parts};
use merkato::{
    Context, Cursor, Page, PageRequest,
    accounts::{self, Actor, Client},
    carts::{GuestToken, Shopper},
    keys::{self, ApiKey, Token},
    limits,
    text::hex,
};
use utoipa::ToSchema;

use super::{
    access::{Access, Rule},
    app::{App, Shop},
    cookies,
    cursor::{self, ListId},
    problem::Problem,
    settings::DEFAULT_TENANT,
    wire::{Listing, Paging},
};

/// Who makes a request.
#[derive(Clone, Debug)]
pub enum Who {
    Nobody,
    /// Known by a cart alone.
    Guest(GuestToken),
    Person {
        actor: Actor,
        by: By,
    },
    Program(ApiKey),
}

impl Who {
    fn principal(&self) -> String {
        match self {
            Who::Nobody => "nobody".into(),
            Who::Guest(token) => format!("guest {}", token.cart_id()),
            Who::Person { actor, .. } => format!("person {}", actor.user_id),
            Who::Program(key) => format!("key {}", key.key_id),
        }
    }
}

/// How a person is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Cookie,
    Bearer,
}

/// A request as handlers see it: the shop it came to, and who makes it.
#[derive(Clone)]
pub struct Visit {
    pub ctx: Context,
    pub who: Who,
    /// The guest's cart, also beside a person who has just logged in.
    pub guest: Option<GuestToken>,
    pub client: Client,
    /// Whether cookies go over TLS only.
    pub secure: bool,
    /// Where a letter to this shop's people leads, as `https://shop.example`, if that is beyond doubt.
    pub origin: Option<String>,
    shop: Arc<Shop>,
    list: ListId,
    csrf: Option<String>,
}

impl Visit {
    /// Who is logged in.
    pub fn person(&self) -> Result<Actor, Problem> {
        match &self.who {
            Who::Person { actor, .. } => Ok(*actor),
            _ => Err(Problem::new("not_logged_in", "it needs a session")),
        }
    }

    /// Whose cart it is.
    pub fn shopper(&self) -> Result<Shopper, Problem> {
        match &self.who {
            Who::Person { actor, .. } => Ok(Shopper::User(actor.user_id)),
            Who::Guest(token) => Ok(Shopper::Guest(token.clone())),
            _ => Err(Problem::new("not_logged_in", "it needs a session or a guest's token")),
        }
    }

    /// A name for who makes the request, that no other has: keys of idempotency are the principal's own.
    pub fn principal(&self) -> String {
        self.who.principal()
    }

    /// What a form of this visitor's pages sends back, as a field or as the header `Merkato-Csrf`.
    pub fn csrf_token(&self) -> Option<&str> {
        self.csrf.as_deref()
    }

    /// The token of a browser's forms: its session's, or, while it has none, made of a secret that it keeps.
    pub fn form_token(&self, secret: &str) -> String {
        match (&self.who, &self.csrf) {
            (Who::Person { .. }, Some(token)) => token.clone(),
            _ => hex(&self.shop.signer().tag("form", &[secret.as_bytes()])),
        }
    }

    /// The page that a client asks for. A cursor of another list, shop or query is refused.
    pub fn page(&self, paging: &Paging) -> Result<PageRequest, Problem> {
        let cursor = paging.cursor.as_deref().map(|text| cursor::open(self.shop.signer(), &self.list, text));
        let page =
            PageRequest { limit: paging.limit.unwrap_or(limits::PAGE_ROWS_DEFAULT), cursor: cursor.transpose()? };
        page.check()?;
        Ok(page)
    }

    /// A cursor of this list, as a client sees it.
    pub fn seal(&self, cursor: &Cursor) -> String {
        cursor::seal(self.shop.signer(), &self.list, cursor)
    }

    /// A cursor of the list at another address: a page may know more of its list than the address that led to it says.
    pub fn seal_at(&self, address: &str, cursor: &Cursor) -> String {
        let list = address.parse().map_or_else(|_| self.list.clone(), |address| self.list.at(&address));
        cursor::seal(self.shop.signer(), &list, cursor)
    }

    /// A page as a client sees it, with the cursor to the next.
    pub fn listing<R, T: ToSchema>(&self, page: Page<R>, view: impl FnMut(R) -> T) -> Listing<T> {
        self.listed(page.rows, page.next, view)
    }

    /// As `listing`, of rows that are no page of one partition.
    pub fn listed<R, T: ToSchema>(&self, rows: Vec<R>, next: Option<Cursor>, view: impl FnMut(R) -> T) -> Listing<T> {
        let next = next.map(|next| self.seal(&next));
        Listing { data: rows.into_iter().map(view).collect(), next_cursor: next }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Visit>().cloned().ok_or_else(|| Problem::internal("a route of no shop has no visit"))
    }
}

const TENANT: &str = "merkato-tenant";
pub const GUEST: &str = "merkato-guest";
pub const CSRF: &str = "merkato-csrf";

/// What a request says of who makes it.
enum Bearer {
    Key(Token),
    Session(String),
}

/// Finds the shop and the principal of a request.
pub async fn recognise(
    app: &App,
    rule: &Rule,
    headers: &HeaderMap,
    uri: &Uri,
    address: IpAddr,
) -> Result<Visit, Problem> {
    let bearer = bearer(headers)?;
    let shop = shop(app, &bearer, headers, uri).await?;
    let ctx = shop.ctx.clone();
    let user_agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let session = cookies::find(headers, cookies::SESSION);
    let guest_cookie = cookies::find(headers, cookies::GUEST);
    let guest_header = one(headers, GUEST)?;
    // A cookie that makes no sense is no cookie; a header that makes none is an error.
    let guest = match guest_header {
        Some(text) => {
            Some(GuestToken::parse(text).map_err(|_| Problem::new("bad_header", "Merkato-Guest: not a token"))?)
        }
        None => guest_cookie.and_then(|text| GuestToken::parse(text).ok()),
    };
    let refused = || Problem::new("not_logged_in", "the token is not good, or not any more");
    let who = match (bearer, session) {
        (Some(Bearer::Key(token)), _) => Who::Program(keys::find(&ctx, &token).await?.ok_or_else(refused)?),
        (Some(Bearer::Session(token)), _) => match accounts::authenticate(&ctx, &token).await {
            Ok(actor) => Who::Person { actor, by: By::Bearer },
            Err(accounts::Error::NotLoggedIn) => return Err(refused()),
            Err(error) => return Err(error.into()),
        },
        // A session that has ended is no obstacle to whoever needs none.
        (None, Some(token)) => match accounts::authenticate(&ctx, token).await {
            Ok(actor) => Who::Person { actor, by: By::Cookie },
            Err(accounts::Error::NotLoggedIn) => guest.clone().map_or(Who::Nobody, Who::Guest),
            Err(error) => return Err(error.into()),
        },
        (None, None) => guest.clone().map_or(Who::Nobody, Who::Guest),
    };
    let cookie_secret = match &who {
        Who::Person { by: By::Cookie, .. } => session,
        Who::Guest(_) if guest_header.is_none() => guest_cookie,
        _ => None,
    };
    let csrf = cookie_secret.map(|secret| hex(&shop.signer().tag("csrf", &[secret.as_bytes()])));
    if rule.is_unsafe()
        && let Some(expected) = &csrf
    {
        check_origin(app, headers, uri, expected)?;
    }
    let is_own = matches!(rule.access, Access::Shopper | Access::Person);
    let owner = if is_own { who.principal() } else { String::new() };
    Ok(Visit {
        list: ListId::new(&shop.name, owner, uri),
        ctx,
        who,
        guest,
        client: Client { address: address.to_string(), user_agent },
        secure: app.settings().is_secure(),
        origin: origin(app, &shop, headers, uri),
        shop,
        csrf,
    })
}

fn one<'h>(headers: &'h HeaderMap, name: &'static str) -> Result<Option<&'h str>, Problem> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            let text = value.to_str();
            text.map(Some).map_err(|_| Problem::new("bad_header", format!("{name}: not plain ASCII")))
        }
        _ => Err(Problem::new("bad_header", format!("{name} is there twice"))),
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<Bearer>, Problem> {
    let Some(text) = one(headers, "authorization")? else { return Ok(None) };
    let refused =
        || Problem::new("not_logged_in", "Authorization: `Bearer` and a session token or an API key are wanted");
    let (scheme, token) = text.split_once(' ').ok_or_else(refused)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(refused());
    }
    let token = token.trim();
    if token.starts_with("mk_") {
        return Token::parse(token).map(|token| Some(Bearer::Key(token))).ok_or_else(refused);
    }
    Ok(Some(Bearer::Session(token.to_owned())))
}

async fn shop(app: &App, bearer: &Option<Bearer>, headers: &HeaderMap, uri: &Uri) -> Result<Arc<Shop>, Problem> {
    let named = one(headers, TENANT)?;
    let tenant = match (bearer, named) {
        (Some(Bearer::Key(token)), Some(named)) if token.tenant() != named => {
            return Err(Problem::new("tenant_mismatch", ""));
        }
        (Some(Bearer::Key(token)), _) => {
            // Whether there is such a shop is nobody's business who has no key of it.
            let refused = || Problem::new("not_logged_in", "the token is not good, or not any more");
            return app.shop(token.tenant()).await?.ok_or_else(refused);
        }
        (_, Some(named)) => named,
        (_, None) => host(headers, uri).and_then(|host| app.tenant_of_host(&host)).unwrap_or(DEFAULT_TENANT),
    };
    app.shop(tenant).await?.ok_or_else(|| Problem::new("unknown_tenant", ""))
}

/// The host that was asked for, without its port, in lower case.
pub(super) fn host(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let authority = authority(headers, uri)?;
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, port)| if port.bytes().all(|b| b.is_ascii_digit()) { host } else { authority });
    Some(host.trim_end_matches('.').to_ascii_lowercase())
}

/// The host that was asked for as it was written. HTTP/2 has it in the address, and need not have the header.
pub(super) fn authority<'r>(headers: &'r HeaderMap, uri: &'r Uri) -> Option<&'r str> {
    let of_uri = uri.authority().map(|authority| authority.as_str());
    of_uri.or_else(|| headers.get(header::HOST)?.to_str().ok())
}

/// Where a letter may lead that answers this request: to the shop's own host if that was asked, or where the settings say, or
/// to this machine. Anybody writes any host into a request, and a letter with a secret in its link goes to somebody else: no
/// other host is believed, nor that of another shop, which has other accounts.
fn origin(app: &App, shop: &Shop, headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let settings = app.settings();
    let public = settings.public_url.as_deref().map(|url| url.trim_end_matches('/').to_owned());
    // Without pages another program has the forms that letters lead to, and the settings alone say where.
    if !settings.pages.enabled {
        return public;
    }
    let scheme = if settings.is_secure() { "https" } else { "http" };
    let plain = |authority: &&str| authority.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b));
    let asked = authority(headers, uri).filter(plain).map(|authority| format!("{scheme}://{authority}"));
    let host = host(headers, uri).unwrap_or_default();
    if app.tenant_of_host(&host) == Some(&shop.name) {
        // Whoever asks writes any port, too: where the settings say how people reach the server, theirs counts.
        return match &public {
            Some(url) => {
                let port = url.parse::<Uri>().ok().and_then(|url| url.port_u16());
                Some(format!("{scheme}://{host}{}", port.map_or_else(String::new, |port| format!(":{port}"))))
            }
            None => asked,
        };
    }
    public.or_else(|| asked.filter(|_| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]")))
}

/// Whether a request that changes something by a cookie comes from the site's own pages.
fn check_origin(app: &App, headers: &HeaderMap, uri: &Uri, csrf: &str) -> Result<(), Problem> {
    use subtle::ConstantTimeEq as _;
    if let Some(token) = one(headers, CSRF)? {
        let good: bool = token.as_bytes().ct_eq(csrf.as_bytes()).into();
        return if good { Ok(()) } else { Err(Problem::new("csrf", "Merkato-Csrf: not the token of this session")) };
    }
    let own = match (one(headers, "origin")?, one(headers, "sec-fetch-site")?) {
        (Some(origin), _) => app.is_own_origin(origin, authority(headers, uri)),
        (None, Some(site)) => matches!(site, "same-origin" | "none"),
        (None, None) => false,
    };
    let wanted = "requests by cookie need an Origin of this site, or the header Merkato-Csrf";
    if own { Ok(()) } else { Err(Problem::new("csrf", wanted)) }
}
