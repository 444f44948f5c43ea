"""Consultations inside verl: an agent loop, an advantage estimator, rows of its data set, and a stand-in for its trainer."""
