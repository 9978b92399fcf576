# SPDX-License-Identifier: BSD-3-Clause
output "address" {
  description = "For ssh; vcmtsd is served after the first start's restart."
  value       = aws_eip.admin.public_ip
}

output "interfaces" {
  description = "Addresses of the data plane: the core network's next hop is .network, that of R-PHY devices .rphy."
  value = {
    network = aws_network_interface.network.private_ip
    rphy    = aws_network_interface.rphy.private_ip
  }
}
