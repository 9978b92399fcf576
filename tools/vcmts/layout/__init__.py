# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts layout`: checks a placement of threads against a machine. vcmtsd reads the file."""
