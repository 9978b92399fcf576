# SPDX-License-Identifier: BSD-3-Clause
# Three subnets: administration, core network, R-PHY devices.
locals {
  subnets = {
    admin   = cidrsubnet(var.vpc_cidr, 8, 0)
    network = cidrsubnet(var.vpc_cidr, 8, 1)
    rphy    = cidrsubnet(var.vpc_cidr, 8, 2)
  }
}

resource "aws_vpc" "this" {
  cidr_block = var.vpc_cidr
  tags       = { Name = var.name }
}

resource "aws_subnet" "this" {
  for_each          = local.subnets
  vpc_id            = aws_vpc.this.id
  availability_zone = var.availability_zone
  cidr_block        = each.value
  tags              = { Name = "${var.name}-${each.key}" }
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = var.name }
}

resource "aws_route_table" "admin" {
  vpc_id = aws_vpc.this.id
  tags   = { Name = "${var.name}-admin" }
}

resource "aws_route" "admin" {
  route_table_id         = aws_route_table.admin.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table_association" "admin" {
  subnet_id      = aws_subnet.this["admin"].id
  route_table_id = aws_route_table.admin.id
}

# Routes packets from the core network to subscribers to the network interface.
resource "aws_route" "subscribers" {
  for_each               = toset(var.subscriber_cidrs)
  route_table_id         = aws_vpc.this.main_route_table_id
  destination_cidr_block = each.value
  network_interface_id   = aws_network_interface.network.id
}

resource "aws_security_group" "admin" {
  name_prefix = "${var.name}-admin-"
  vpc_id      = aws_vpc.this.id

  ingress {
    description = "ssh"
    protocol    = "tcp"
    from_port   = 22
    to_port     = 22
    cidr_blocks = var.admin_cidrs
  }

  egress {
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_security_group" "network" {
  name_prefix = "${var.name}-network-"
  vpc_id      = aws_vpc.this.id

  ingress {
    description = "packets to subscribers"
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = var.core_cidrs
  }

  egress {
    protocol    = "-1"
    from_port   = 0
    to_port     = 0
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_security_group" "rphy" {
  name_prefix = "${var.name}-rphy-"
  vpc_id      = aws_vpc.this.id

  ingress {
    description = "UEPI: L2TPv3 over IP"
    protocol    = "115"
    from_port   = 0
    to_port     = 0
    cidr_blocks = var.rpd_cidrs
  }

  egress {
    description = "DEPI"
    protocol    = "115"
    from_port   = 0
    to_port     = 0
    cidr_blocks = var.rpd_cidrs
  }
}
