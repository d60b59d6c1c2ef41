from cocco.bounds.certificate import Certificate as Certificate
from cocco.bounds.certificate import certify as certify
from cocco.bounds.certificate import check_solvers as check_solvers
from cocco.bounds.certificate import has_solvers as has_solvers
from cocco.bounds.certificate import quick_effort as quick_effort
