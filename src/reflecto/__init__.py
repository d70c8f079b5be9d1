"""Reflecto: notifications and questions on your own screens, self-hosted."""

__version__ = "0.1.0"
