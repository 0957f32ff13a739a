//! The field bugs of answer extraction, one test per case.
