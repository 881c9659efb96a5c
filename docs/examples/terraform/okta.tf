# Makes the application of Okta that pushes people and groups to the bridge. Enter the SCIM address and token by hand.
terraform {
  required_providers {
    okta = { source = "okta/okta", version = "~> 4.8" }
  }
}

variable "scim_url" {
  description = "server.publicUrl of the bridge, followed by the path of the connection."
  type        = string
  default     = "https://scim.example.com/scim/v2"
}

variable "group_ids" {
  description = "Ids of the groups whose people are pushed."
  type        = set(string)
}

resource "okta_app_secure_password_store" "bridge" {
  label              = "scim-bridge"
  url                = "https://scim.example.com"
  username_field     = "username"
  password_field     = "password"
  hide_web           = true
  hide_ios           = true
  user_name_template = "$${source.login}"
}

resource "okta_app_group_assignments" "bridge" {
  app_id = okta_app_secure_password_store.bridge.id

  dynamic "group" {
    for_each = var.group_ids
    content {
      id = group.value
    }
  }
}

# An attribute of the platform: targets.main.attributes.clearance reads urn:cube:params:1.0:UserAttribute:clearance.
resource "okta_app_user_schema_property" "clearance" {
  app_id             = okta_app_secure_password_store.bridge.id
  index              = "clearance"
  title              = "Clearance"
  type               = "number"
  external_name      = "clearance"
  external_namespace = "urn:cube:params:1.0:UserAttribute"
  master             = "OKTA"
  scope              = "NONE"
}

output "enter_in_okta" {
  description = "SCIM connector base URL, to be entered with the token under Provisioning."
  value       = var.scim_url
}
