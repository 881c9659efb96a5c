# Makes the enterprise application of Microsoft Entra ID that pushes people and groups to the bridge, and starts it.
terraform {
  required_providers {
    azuread = { source = "hashicorp/azuread", version = "~> 3.0" }
  }
}

variable "scim_url" {
  description = "server.publicUrl of the bridge, followed by the path of the connection."
  type        = string
  default     = "https://scim.example.com/scim/v2"
}

variable "scim_token" {
  description = "Inbound token of the connection: SCIM_TOKEN, or one of scim-bridge token create."
  type        = string
  sensitive   = true
}

variable "group_ids" {
  description = "Object ids of the groups whose people are pushed."
  type        = set(string)
}

resource "azuread_application_from_template" "bridge" {
  display_name = "scim-bridge"
  # The template of applications that are not in the gallery.
  template_id = "8adf8e6e-67b2-4cf2-a259-e3dc5476c621"
}

data "azuread_service_principal" "bridge" {
  object_id = azuread_application_from_template.bridge.service_principal_object_id
}

resource "azuread_app_role_assignment" "groups" {
  for_each            = var.group_ids
  app_role_id         = data.azuread_service_principal.bridge.app_role_ids["User"]
  principal_object_id = each.value
  resource_object_id  = data.azuread_service_principal.bridge.object_id
}

resource "azuread_synchronization_secret" "bridge" {
  service_principal_id = data.azuread_service_principal.bridge.id

  credential {
    key   = "BaseAddress"
    value = var.scim_url
  }

  credential {
    key   = "SecretToken"
    value = var.scim_token
  }
}

resource "azuread_synchronization_job" "bridge" {
  service_principal_id = data.azuread_service_principal.bridge.id
  template_id          = "scim"
  enabled              = true
  depends_on           = [azuread_synchronization_secret.bridge, azuread_app_role_assignment.groups]
}
