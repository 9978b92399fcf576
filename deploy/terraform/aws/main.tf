# SPDX-License-Identifier: BSD-3-Clause
# One instance, on which vcmtsd has two interfaces that all service groups share (docs/cloud.md).
data "aws_ec2_instance_type" "this" {
  instance_type = var.instance_type
}

locals {
  # EC2's names are x86_64 and arm64, those of Ubuntu's images amd64 and arm64.
  arm = contains(data.aws_ec2_instance_type.this.supported_architectures, "arm64")
}

data "aws_ami" "ubuntu" {
  most_recent = true
  owners      = ["099720109477"] # Canonical

  filter {
    name   = "name"
    values = ["ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-${local.arm ? "arm64" : "amd64"}-server-*"]
  }
}

# Instances of one cluster placement group have the highest bandwidth and the lowest latency between them.
resource "aws_placement_group" "this" {
  name     = var.name
  strategy = "cluster"
}

resource "aws_network_interface" "admin" {
  subnet_id       = aws_subnet.this["admin"].id
  security_groups = [aws_security_group.admin.id]
  tags            = { Name = "${var.name}-admin" }
}

# source_dest_check is off, as packets from and to subscribers do not have the interface's address.
resource "aws_network_interface" "network" {
  subnet_id         = aws_subnet.this["network"].id
  security_groups   = [aws_security_group.network.id]
  source_dest_check = false
  tags              = { Name = "${var.name}-network" }
}

resource "aws_network_interface" "rphy" {
  subnet_id       = aws_subnet.this["rphy"].id
  security_groups = [aws_security_group.rphy.id]
  tags            = { Name = "${var.name}-rphy" }
}

resource "aws_eip" "admin" {
  domain            = "vpc"
  network_interface = aws_network_interface.admin.id
  depends_on        = [aws_internet_gateway.this, aws_instance.this]
}

resource "aws_instance" "this" {
  ami             = data.aws_ami.ubuntu.id
  instance_type   = var.instance_type
  key_name        = var.key_name
  placement_group = aws_placement_group.this.id

  network_interface {
    device_index         = 0
    network_interface_id = aws_network_interface.admin.id
  }

  network_interface {
    device_index         = 1
    network_interface_id = aws_network_interface.network.id
  }

  network_interface {
    device_index         = 2
    network_interface_id = aws_network_interface.rphy.id
  }

  metadata_options {
    http_tokens = "required"
  }

  root_block_device {
    encrypted = true
  }

  user_data_replace_on_change = true
  user_data = templatefile("${path.module}/cloud-init.yaml.tftpl", {
    configuration  = base64encode(file("${path.module}/${var.configuration}"))
    package_url    = var.package_url
    package_sha256 = var.package_sha256
    network_mac    = aws_network_interface.network.mac_address
    rphy_mac       = aws_network_interface.rphy.mac_address
    rphy_address   = aws_network_interface.rphy.private_ip
    rphy_router    = cidrhost(local.subnets.rphy, 1) # the VPC's router has the first address of each subnet
  })
  tags = { Name = var.name }

  lifecycle {
    precondition {
      condition     = data.aws_ec2_instance_type.this.ena_support != "unsupported"
      error_message = "instance_type: this type has no ENA; vcmts size --cloud lists types."
    }
    precondition {
      condition     = data.aws_ec2_instance_type.this.maximum_network_interfaces >= 3
      error_message = "instance_type: this type has fewer than three interfaces; vcmts size --cloud lists types."
    }
  }
}
