//! `merkato user`: people, from the shell.

use clap::{Args, Subcommand, ValueEnum};
use merkato::{
    Context,
    accounts::{self, NewUser, Profile},
    id::UserId,
};
use serde_json::json;

use super::{
    Global,
    open::{Opened, TenantChoice},
    output,
};

#[derive(Args)]
pub struct User {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a user, whose address counts as verified. The password is asked for, or read from standard input
    #[command(after_help = "Examples:
  merkato user create ada@example.com --role admin
  head -c 18 /dev/urandom | base64 | merkato user create ci@example.com --role staff")]
    Create {
        email: String,
        #[arg(long, value_enum, default_value_t = Role::Customer)]
        role: Role,
        #[arg(long)]
        first_name: Option<String>,
        #[arg(long)]
        last_name: Option<String>,
        #[command(flatten)]
        tenant: TenantChoice,
    },
    /// Set a user's password; every session of the user ends
    #[command(after_help = "Example:\n  merkato user passwd ada@example.com")]
    Passwd {
        email: String,
        #[command(flatten)]
        tenant: TenantChoice,
    },
    /// Set what a user may do. More than before only where the address is verified; `user passwd` vouches for one that is not
    #[command(after_help = "Example:\n  merkato user role ada@example.com admin")]
    Role {
        email: String,
        #[arg(value_enum)]
        role: Role,
        #[command(flatten)]
        tenant: TenantChoice,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    Customer,
    Staff,
    Admin,
}

impl From<Role> for accounts::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Customer => accounts::Role::Customer,
            Role::Staff => accounts::Role::Staff,
            Role::Admin => accounts::Role::Admin,
        }
    }
}

impl User {
    pub async fn run(self, global: &Global) -> anyhow::Result<()> {
        let opened = Opened::ready(global).await?;
        let user = match self.what {
            What::Create { email, role, first_name, last_name, tenant } => {
                let ctx = opened.context(&tenant)?;
                let profile = Profile { first_name, last_name, ..Profile::default() };
                create(&ctx, NewUser { email, password: output::password("Password")?, profile }, role.into()).await?
            }
            What::Passwd { email, tenant } => {
                let ctx = opened.context(&tenant)?;
                let user = find(&ctx, &email).await?;
                accounts::set_password(&ctx, user, &output::password("New password")?).await?
            }
            What::Role { email, role, tenant } => {
                let ctx = opened.context(&tenant)?;
                accounts::set_role(&ctx, find(&ctx, &email).await?, role.into()).await?
            }
        };
        let email = user.email.clone().unwrap_or_default();
        if global.json {
            let (id, role) = (user.user_id.to_string(), user.role.as_str());
            return output::json(&json!({ "user_id": id, "email": email, "role": role }));
        }
        output::line(format!("{}  {email}  {}", user.user_id, user.role.as_str()))
    }
}

/// A user who can log in at once: whoever has the shell vouches for the address.
pub(crate) async fn create(ctx: &Context, new: NewUser, role: accounts::Role) -> anyhow::Result<accounts::User> {
    let registered = accounts::register(ctx, new).await?;
    let user = accounts::verify_email(ctx, registered.letter.token.as_str()).await?;
    Ok(if role == user.role { user } else { accounts::set_role(ctx, user.user_id, role).await? })
}

async fn find(ctx: &Context, email: &str) -> anyhow::Result<UserId> {
    let found = accounts::find_by_email(ctx, email).await?;
    Ok(found.ok_or_else(|| anyhow::anyhow!("nobody has the address {email}"))?.user_id)
}
