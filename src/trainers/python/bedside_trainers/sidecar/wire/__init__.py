"""The Tinker wire: requests parsed and checked in either dialect, answers encoded."""
