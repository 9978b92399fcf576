// SPDX-License-Identifier: BSD-3-Clause
// Six P-states for each of two CPUs, for Linux's acpi-cpufreq. A transition writes a byte to an I/O port, which QEMU
// writes to a file: 0x08 is 0.8 GHz, 0x12 is 1.8 GHz. Each CPU has its own port and clock domain.
DefinitionBlock ("", "SSDT", 2, "VCMTS", "PSTATES", 1)
{
    External (\_SB.CPUS.C000, ProcessorObj)
    External (\_SB.CPUS.C001, ProcessorObj)

    // MHz, mW, transition latency in us, bus master latency in us, control value, status value
    Name (\PSTA, Package () {
        Package () { 1800, 4600, 10, 10, 0x12, 0x12 },
        Package () { 1600, 3900, 10, 10, 0x10, 0x10 },
        Package () { 1400, 3300, 10, 10, 0x0E, 0x0E },
        Package () { 1200, 2800, 10, 10, 0x0C, 0x0C },
        Package () { 1000, 2350, 10, 10, 0x0A, 0x0A },
        Package () { 800, 1950, 10, 10, 0x08, 0x08 }
    })

    Scope (\_SB.CPUS.C000)
    {
        Method (_PPC) { Return (0) }
        Method (_PSS) { Return (\PSTA) }
        Name (_PCT, Package () {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x1600) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x1600) }
        })
        Name (_PSD, Package () { Package () { 5, 0, 0, 0xFC, 1 } })
    }

    Scope (\_SB.CPUS.C001)
    {
        Method (_PPC) { Return (0) }
        Method (_PSS) { Return (\PSTA) }
        Name (_PCT, Package () {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x1601) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x1601) }
        })
        Name (_PSD, Package () { Package () { 5, 0, 1, 0xFC, 1 } })
    }
}
