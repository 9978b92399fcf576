# SPDX-License-Identifier: BSD-3-Clause
variable "name" {
  description = "Prefix of all names."
  type        = string
  default     = "vcmts"
}

variable "region" {
  description = "AWS region."
  type        = string
}

variable "availability_zone" {
  description = "Zone of the region: the instance, its subnets and its placement group are in one."
  type        = string
}

variable "instance_type" {
  description = "An instance with ENA and three interfaces or more, 8 vCPUs or more: see vcmts size --cloud."
  type        = string
  default     = "c6in.4xlarge"
}

variable "key_name" {
  description = "EC2 key pair for the administration."
  type        = string
}

variable "admin_cidrs" {
  description = "From where the administration may come, by ssh."
  type        = list(string)

  validation {
    condition     = !contains(var.admin_cidrs, "0.0.0.0/0")
    error_message = "admin_cidrs: the whole Internet is not the administration."
  }
}

variable "vpc_cidr" {
  description = "Addresses of the VPC; the three subnets are parts of it."
  type        = string
  default     = "10.64.0.0/16"
}

variable "core_cidrs" {
  description = "The core network: from where packets for subscribers come."
  type        = list(string)
}

variable "rpd_cidrs" {
  description = "R-PHY devices: DEPI goes there, UEPI comes from there, by L2TPv3 right in IP (protocol 115)."
  type        = list(string)
}

variable "subscriber_cidrs" {
  description = "Addresses behind the modems: routed to the network interface."
  type        = list(string)
}

# It hides it from terraform's output only.
variable "package_url" {
  description = "The Debian package of vcmts for Ubuntu 24.04, such as a presigned link that soon ends: every process of the instance can read it in the user data."
  type        = string
  sensitive   = true
}

variable "package_sha256" {
  description = "Its SHA-256."
  type        = string

  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.package_sha256))
    error_message = "package_sha256: 64 hexadecimal digits."
  }
}

variable "configuration" {
  description = "File with the configuration of vcmtsd; see example.yaml for the words that are replaced in it. It stands in the user data, too: no keys."
  type        = string
  default     = "example.yaml"
}
