# SPDX-License-Identifier: BSD-3-Clause
variable "name" {
  description = "Prefix of the names of all resources."
  type        = string
  default     = "vcmts"
}

variable "region" {
  description = "AWS region."
  type        = string
}

variable "availability_zone" {
  description = "Availability zone of the instance, its subnets and its placement group."
  type        = string
}

variable "instance_type" {
  description = "Type of the instance. It needs ENA, three interfaces or more, and 8 vCPUs or more: see vcmts size --cloud."
  type        = string
  default     = "c6in.4xlarge"
}

variable "key_name" {
  description = "Name of the EC2 key pair for ssh."
  type        = string
}

variable "admin_cidrs" {
  description = "Addresses of administrators, from which ssh is permitted."
  type        = list(string)

  validation {
    condition     = !contains(var.admin_cidrs, "0.0.0.0/0")
    error_message = "admin_cidrs: found 0.0.0.0/0, allowed: addresses of administrators only."
  }
}

variable "vpc_cidr" {
  description = "Addresses of the VPC, which contains the three subnets."
  type        = string
  default     = "10.64.0.0/16"
}

variable "core_cidrs" {
  description = "Addresses that may send packets to subscribers."
  type        = list(string)
}

variable "rpd_cidrs" {
  description = "Addresses of R-PHY devices, which receive DEPI and send UEPI: L2TPv3 over IP (protocol 115)."
  type        = list(string)
}

variable "subscriber_cidrs" {
  description = "Addresses of hosts behind the modems, which the VPC routes to the network interface."
  type        = list(string)
}

# `sensitive` hides the value from terraform's output only.
variable "package_url" {
  description = "The Debian package of vcmts for Ubuntu 24.04, such as a presigned URL that expires soon. Every process of the instance can read it in the user data."
  type        = string
  sensitive   = true
}

variable "package_sha256" {
  description = "SHA-256 of the package."
  type        = string

  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.package_sha256))
    error_message = "package_sha256: allowed: 64 hexadecimal digits in lower case."
  }
}

variable "configuration" {
  description = "File with the configuration of vcmtsd; example.yaml shows the words that the first start replaces. It must contain no keys, as every process of the instance can read the user data."
  type        = string
  default     = "example.yaml"
}
