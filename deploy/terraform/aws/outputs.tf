# SPDX-License-Identifier: BSD-3-Clause
output "address" {
  description = "Address for ssh. vcmtsd starts after the reboot at the end of the first start."
  value       = aws_eip.admin.public_ip
}

output "interfaces" {
  description = "Addresses of the data plane. The next hop of the core network is .network, that of R-PHY devices .rphy."
  value = {
    network = aws_network_interface.network.private_ip
    rphy    = aws_network_interface.rphy.private_ip
  }
}
